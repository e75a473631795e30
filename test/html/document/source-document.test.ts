import { describe, expect, it } from "vitest";
import {
  decodeHtml,
  documentBytes,
  LineCounter,
  readSource,
  requireEncodable,
} from "../../../src/html/document/source-document.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

describe("readSource", () => {
  it.each([
    ["UTF-8", Buffer.from("<p>é\u{1f600}"), "utf8"],
    ["UTF-8 with a byte order mark", Buffer.from("\ufeff<p>é"), "utf8"],
    ["latin1", Buffer.from("<p>é", "latin1"), "latin1"],
    ["every byte there is", Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), "latin1"],
    ["nothing", Buffer.alloc(0), "utf8"],
  ])("gives back every byte: %s", (_, bytes, encoding) => {
    const source = readSource(bytes);
    expect(source.encoding).toBe(encoding);
    expect(Buffer.from(documentBytes(source)).equals(bytes)).toBe(true);
  });

  it("keeps a byte order mark out of the source", () => {
    expect(readSource(Buffer.from("\ufeffa"))).toEqual({ source: "a", encoding: "utf8", hasByteOrderMark: true });
  });

  it.each(["le", "be"])(
    "refuses UTF-16 with a byte order mark (%s), which would be written as something else",
    (order) => {
      const bytes = Buffer.from("\ufeff<p>a", "utf16le");
      const page = order === "le" ? bytes : bytes.swap16();
      expect(() => readSource(page)).toThrow(expect.objectContaining({ code: "UNSUPPORTED_ENCODING" }));
    },
  );
});

describe("requireEncodable", () => {
  it("takes any text for UTF-8, and ASCII only where the document is something else", async () => {
    const utf8 = await parseHtml("<p>é");
    const other = await parseHtml(Buffer.from("<p>é", "latin1"));
    expect(() => requireEncodable(utf8, "€")).not.toThrow();
    expect(() => requireEncodable(other, "a")).not.toThrow();
    expect(() => requireEncodable(other, "é")).toThrow(expect.objectContaining({ code: "NOT_UTF8" }));
  });
});

it("counts lines that end in LF, CRLF or CR, and columns in them", () => {
  const lines = new LineCounter("a\nbc\r\n\rd");
  expect([0, 1, 2, 3, 6, 7].map((offset) => Object.values(lines.at(offset)))).toEqual([
    [1, 1],
    [1, 2],
    [2, 1],
    [2, 2],
    [3, 1],
    [4, 1],
  ]);
});

it("takes what has no place for the beginning", () => {
  expect(new LineCounter("a").at(null)).toEqual({ line: 1, column: 1 });
});

describe("decodeHtml", () => {
  it("reads UTF-8 without its byte order mark", () => {
    expect(decodeHtml(Buffer.from("\ufeffé"))).toBe("é");
  });

  it("refuses what is not UTF-8, lone surrogates too, and NUL", () => {
    expect(() => decodeHtml(Buffer.from([0xe9]))).toThrow("not valid UTF-8");
    expect(() => decodeHtml(Buffer.from([0xed, 0xa0, 0x80]))).toThrow("not valid UTF-8");
    expect(() => decodeHtml(Buffer.from("a\nb\0"))).toThrow("NUL character (line 2, column 2)");
  });
});
