import { parse, serialize } from "parse5";
import { describe, expect, it, vi } from "vitest";
import { joined } from "../../../src/html/document/serialise.ts";
import { elementsOf } from "../../elements/pages.ts";
import { done } from "../../helpers/done.ts";
import { parseHtml } from "../../helpers/parse-html.ts";
import { serialise } from "../reading.ts";

async function serialised(page: string): Promise<string> {
  const document = await parseHtml(page);
  return serialise(document, document.root);
}

describe("serialisedParts", () => {
  it.each([
    "<p title='a\"b&amp;'>x &lt; y&nbsp;z<br><img>",
    "<table><tr><td>a<svg xlink:href=x viewbox=1><path/></svg></table>",
    "<template><i>t</template><script>a < b</script><noscript><p></noscript>",
    "<svg><style>a<b></b></style></svg><math><mi>x</math>",
    "<b>1<p>2</b>3</p>",
  ])("writes what a browser writes: %s", async (page) => {
    expect(await serialised(page)).toBe(serialize(parse(page)));
  });

  it.each([
    ["the line end that pre loses", "<pre>\n\nx</pre>", "<pre>\n\nx</pre>"],
    ["a carriage return", "<p title='&#13;'>&#13;</p>", '<p title="&#13;">&#13;</p>'],
    ["white space behind the page", "<p>a</p></body></html>\r\n", "<p>a</p></body></html>\n"],
    ["text without an end", "<plaintext></p>", "<body><plaintext></p>"],
  ])("keeps what a browser loses: %s", async (_, page, written) => {
    expect(await serialised(page)).toContain(written);
  });

  it("keeps the doctype as it was written", async () => {
    const doctype = "<!doctype HTML public '-//W3C//DTD HTML 4.01//EN'  'x'>";
    expect((await serialised(`${doctype}<p>`)).startsWith(doctype)).toBe(true);
  });

  it("writes an element with its own tags, and characters beyond ASCII as it is told", async () => {
    const document = await parseHtml("<table><tr><td title=é>€");
    const tbody = elementsOf(document).find(({ name }) => name === "tbody");
    if (!tbody) throw new Error("no tbody");
    expect(serialise(document, tbody)).toBe('<tbody><tr><td title="é">€</td></tr></tbody>');
    expect(serialise(document, tbody, () => "?")).toBe('<tbody><tr><td title="?">?</td></tr></tbody>');
  });
});

it("joins very many parts a few at a time", async () => {
  const join = vi.spyOn(Array.prototype, "join");
  const text = await done(joined(Array.from({ length: 100_000 }, (_, index) => `<i>${index % 10}</i>`)));
  const most = Math.max(...join.mock.contexts.map((array) => (array as readonly string[]).length));
  join.mockRestore();
  expect([text.length, text.endsWith("<i>9</i>"), most < 1000]).toEqual([800_000, true, true]);
});
