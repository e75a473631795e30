import { describe, expect, it } from "vitest";
import { endOfRawText, endOfScript } from "../../../src/html/tokenizer/raw-text-end.ts";

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
