import { describe, expect, it } from "vitest";
import {
  asciiLowerCase,
  endOfRawText,
  endOfScript,
  normalised,
  readReference,
  referenceText,
  resolved,
} from "../../../src/html/tokenizer/text.ts";

describe("readReference", () => {
  it.each([
    ["&amp;x", "text", 5, "&"],
    ["&copyx", "text", 5, "©"],
    ["&copyx", "attribute", 0, ""],
    ["&copy=", "attribute", 0, ""],
    ["&copy", "attribute", 5, "©"],
    ["&notin;", "text", 7, "∉"],
    ["&notit;", "text", 4, "¬"],
    ["&#x1f600;", "text", 9, "\u{1f600}"],
    ["&#128;", "text", 6, "€"],
    ["&#0;", "text", 4, "\ufffd"],
    ["&NotEqualTilde;", "text", 15, "≂̸"],
    ["&", "text", 0, ""],
    ["& x", "text", 0, ""],
    ["&#", "text", 0, ""],
    ["&&", "text", 0, ""],
    ["&nothing;", "text", 4, "¬"],
    ["&xyzzy;", "text", 0, ""],
  ] as const)("reads %s in %s", (source, place, length, text) => {
    expect(readReference(source, 0, place)).toBe(length);
    expect(referenceText()).toBe(text);
  });
});

describe("resolved", () => {
  it("puts characters in place of references, line ends and NULs", () => {
    expect(resolved("a&lt;b&c &amp;\r\nd\re\0&", "attribute")).toBe("a<b&c &\nd\ne\ufffd&");
    expect(resolved("&#13;\r", "text")).toBe("\r\n");
  });
});

it("normalises line ends and NULs", () => {
  const [raw, expected] = ["a\r\nb\rc\nd\0\u{1f600}\r", "a\nb\nc\nd\ufffd\u{1f600}\n"];
  expect([normalised(raw), normalised(raw.repeat(20_000)) === expected.repeat(20_000)]).toEqual([expected, true]);
});

describe("endOfRawText", () => {
  it.each([
    ["a</title>b", "a"],
    ["a</TITLE\n>b", "a"],
    ["a</title/", "a"],
    ["a</titles></title x=y>", "a</titles>"],
    ["a</style></title >", "a</style>"],
    ["a</title", "a</title"],
    ["a", "a"],
  ])("ends the title in %j", (source, text) => {
    expect(source.slice(0, endOfRawText(source, 0, "title").search(source.length))).toBe(text);
  });
});

describe("endOfScript", () => {
  it.each([
    ["a</script>b", "a"],
    ["<!-- a</script>b-->", "<!-- a"],
    ["<!--<script>a</script>b--></script>c", "<!--<script>a</script>b-->"],
    ["<!--<script>a</script>b</script>c", "<!--<script>a</script>b"],
    ["<!--<script>a--></script>b", "<!--<script>a-->"],
    ["<!--><script>a</script>b", "<!--><script>a"],
    ["<!---><script></script>", "<!---><script>"],
    ["<script>a</script>b", "<script>a"],
    ["<!--<scripts>a</script>b", "<!--<scripts>a"],
    ["<!--<script>a</script", "<!--<script>a</script"],
  ])("ends the script in %j", (source, text) => {
    expect(source.slice(0, endOfScript(source, 0).search(source.length))).toBe(text);
  });

  it("begins where it is told to", () => {
    expect(endOfScript("</script><script>a</script>", 17).search(27)).toBe(18);
  });
});

it.each([
  ["title", "a</style></title>"],
  ["script", "<!-- a <script>b</script> --> c</script >"],
])("finds the end of a %s whatever stretches it searches", (name, source) => {
  const expected = source.lastIndexOf("</");
  for (let length = 1; length < source.length; length += 1) {
    const end = name === "script" ? endOfScript(source, 0) : endOfRawText(source, 0, name);
    let found: number | undefined;
    for (let to = length; found === undefined && to < source.length + length; to += length) found = end.search(to);
    expect(found).toBe(expected);
  }
});

describe("asciiLowerCase", () => {
  it("leaves letters beyond ASCII alone", () => {
    expect(asciiLowerCase("AzK\u212aÄİ")).toBe("azk\u212aÄİ");
    expect(asciiLowerCase("ABC")).toBe("abc");
  });

  it("does the same for a long text", () => {
    expect(asciiLowerCase("AzK\u212aÄİ[@\ud800".repeat(100))).toBe("azk\u212aÄİ[@\ud800".repeat(100));
  });
});
