import { describe, expect, it } from "vitest";
import { TextNode } from "../../../src/html/document/html-nodes.ts";
import {
  blanksOf,
  isBlankText,
  SourceTexts,
  splitBlanks,
  TextCollector,
} from "../../../src/html/tree-construction/text-run.ts";
import { nodesOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

describe("TextCollector", () => {
  it("keeps a piece of the source one piece", () => {
    const collector = new TextCollector("some text");
    collector.addVerbatim(0, 4);
    collector.addVerbatim(4, 9);
    expect(collector.take()).toEqual({ data: "some text", start: 0, end: 9, isVerbatim: true });
    expect(collector.isEmpty).toBe(true);
  });

  it("joins what does not follow, or reads otherwise", () => {
    const collector = new TextCollector("a&amp;b<![CDATA[c");
    collector.addVerbatim(0, 1);
    collector.add("&", 1, 6);
    collector.addVerbatim(6, 7);
    collector.addVerbatim(16, 17);
    expect(collector.take()).toEqual({ data: "a&bc", start: 0, end: 17, isVerbatim: false });
    collector.addVerbatim(0, 1);
    collector.addVerbatim(6, 7);
    expect(collector.take()).toEqual({ data: "ab", start: 0, end: 7, isVerbatim: false });
  });

  it("joins any number of pieces", () => {
    const collector = new TextCollector("");
    for (let index = 0; index < 10_000; index += 1) collector.add(index % 2 === 0 ? "a" : "b", index, index + 1);
    expect(collector.take().data).toBe("ab".repeat(5000));
    collector.add("c", 0, 1);
    expect(collector.take().data).toBe("c");
  });
});

const run = (data: string, isVerbatim = true) => ({ data, start: 5, end: 5 + data.length, isVerbatim });

it("knows white space", () => {
  expect([" \t\n\f\r", "", "\u00a0", " a "].map((data) => isBlankText(run(data)))).toEqual([true, true, false, false]);
});

it("leaves the white space of a text", () => {
  expect(blanksOf(run(" \n"))).toEqual(run(" \n"));
  expect(blanksOf(run(" a \nb"))).toEqual({ data: "  \n", start: 5, end: 10, isVerbatim: false });
  expect(blanksOf(run("ab"))).toBeUndefined();
});

it("splits the white space off, wherever it ends in the source", () => {
  expect(splitBlanks(run("a "), "01234a ")).toEqual([undefined, run("a ")]);
  expect(splitBlanks(run(" \n"), "01234 \n")).toEqual([run(" \n"), undefined]);
  expect(splitBlanks({ data: " \na", start: 5, end: 9, isVerbatim: false }, "01234 \r\na")).toEqual([
    { data: " \n", start: 5, end: 8, isVerbatim: false },
    { data: "a", start: 8, end: 9, isVerbatim: false },
  ]);
});

async function textsOf(source: string): Promise<string[]> {
  const { root } = await parseHtml(source);
  return nodesOf(root).flatMap((node) => (node instanceof TextNode ? [node.data] : []));
}

describe("SourceTexts", () => {
  it.each([
    ["as the source has it", "<p>two words\nand more", ["two words\nand more"]],
    ["with references", "<p>a &amp; b &lt; c", ["a & b < c"]],
    ["with CRLF and CR", "<p>a\r\nb\rc", ["a\nb\nc"]],
    ["with NUL", "<p>a\0b\0", ["ab"]],
    ["with NUL in a script", "<script>a\0b</script>", ["a\ufffdb"]],
    ["without the first line end of pre", "<pre>\n\na b</pre>", ["\na b"]],
    ["in two pieces around what was moved away", "<p>a<table>b</table>c", ["ab", "c"]],
    ["joined from both sides of a table", "<table>a b<tr>c d</table>", ["a bc d"]],
    ["joined around an ignored tag", "<p>a </x>b c", ["a b c"]],
    ["with characters of two code units", "<p>\u{1f600} \u{1f600}", ["\u{1f600} \u{1f600}"]],
  ])("gives text %s", async (_, source, expected) => {
    expect(await textsOf(source)).toEqual(expected);
  });

  it("gives long text with and without references whole", async () => {
    const words = "some words, ".repeat(100_000);
    expect(await textsOf(`<p>${words}`)).toEqual([words]);
    expect(await textsOf(`<p>&gt;${words}`)).toEqual([`>${words}`]);
  });

  it("says where a text stands", () => {
    const texts = new SourceTexts("ab cd");
    const text = new TextNode("ab");
    text.startIndex = 0;
    text.endIndex = 1;
    texts.extend(text, { data: " cd", start: 2, end: 5, isVerbatim: true });
    expect([text.startIndex, text.endIndex, text.data]).toEqual([0, 4, "ab cd"]);
  });
});
