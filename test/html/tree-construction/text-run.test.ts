import { describe, expect, it } from "vitest";
import { TextNode } from "../../../src/html/document/html-nodes.ts";
import { nodesOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

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
});
