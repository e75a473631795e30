import { describe, expect, it } from "vitest";
import { documentBytes } from "../../../src/html/document/source-document.ts";
import { normalise } from "../../../src/html/edit/normalise.ts";
import { elementsOf, realPages } from "../../elements/pages.ts";
import { done } from "../../helpers/done.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

async function normalised(page: string | Uint8Array): Promise<string | undefined> {
  const document = await parseHtml(page);
  const normal = await done(normalise(document, []));
  return normal && Buffer.from(documentBytes(normal.document)).toString("latin1");
}

describe("normalise", () => {
  it("writes the tags of all elements", async () => {
    expect(await normalised("<table><tr><td>1<td>2</table>")).toBe(
      "<html><head></head><body><table><tbody><tr><td>1</td><td>2</td></tr></tbody></table></body></html>",
    );
  });

  it("finds the elements again, each with a place of its own", async () => {
    const document = await parseHtml("<b>1<p>2</b>3</p><template><i></template><i>");
    const elements = elementsOf(document);
    const normal = await done(normalise(document, elements));
    expect(normal?.elements.map(({ name }) => name)).toEqual(elements.map(({ name }) => name));
    expect(normal?.elements.every(({ startIndex }) => startIndex !== null)).toBe(true);
  });

  it("keeps the bytes of a document that is not UTF-8, and writes what references stand for as references", async () => {
    const page = Buffer.from("<p title=\xe9&eacute;>\xff&hearts;&eacute;<!--\xe9--><script>\xe9\0</script>", "latin1");
    expect(await normalised(page)).toBe(
      '<html><head></head><body><p title="\xe9&#233;">\xff&#9829;&#233;<!--\xe9--><script>\xe9\0</script></p></body></html>',
    );
  });

  it("keeps the byte order mark", async () => {
    expect((await normalised("\ufeff<p>"))?.startsWith("\xef\xbb\xbf<html>")).toBe(true);
  });

  it.each([
    ["a form in a form", "<form><div></form><form>x</form>"],
    ["text without an end in front of other content", "<table><plaintext>x"],
  ])("gives up on what HTML cannot write: %s", async (_, page) => {
    expect(await normalised(page)).toBeUndefined();
  });

  it("can write all real pages", async () => {
    const failed: string[] = [];
    for (const { name, bytes } of realPages()) if ((await normalised(bytes)) === undefined) failed.push(name);
    expect(failed).toEqual([]);
  });
});
