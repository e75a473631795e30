import { describe, expect, it } from "vitest";
import { documentBytes, readSource, requireEncodable } from "../../../src/html/document/source-document.ts";
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
