import { describe, expect, it } from "vitest";
import { requireFit } from "../../src/elements/fits-in-place.ts";
import { parseHtml } from "../../src/elements/html-document.ts";
import { parseSource } from "../../src/elements/parse-document.ts";
import { splice } from "../../src/elements/splice.ts";
import { contextIn, parseFragment } from "../../src/elements/well-formed.ts";
import { elementsOf } from "./pages.ts";

const page = "<table><tr><td>x</td></tr></table><ul></ul><div></div><p></p><template></template><svg></svg>";

/** Puts a fragment at the end of an element. */
async function put(html: string, parentName: string): Promise<void> {
  const document = await parseHtml(Buffer.from(page));
  const parent = elementsOf(document).find(({ name }) => name === parentName);
  const start = page.indexOf(`</${parentName}>`);
  const placements = [
    { start, end: start, text: html, fragment: parseFragment(html, contextIn(parent ?? null)), parent: parent ?? null },
  ];
  requireFit(await parseSource(splice(page, placements), document), placements);
}

describe("requireFit", () => {
  it.each([
    ["<li>a<li>b", "ul"],
    ["<tr><td>1", "table"],
    ["<td>1<td>2", "tr"],
    ["<p>a<div>b</div>", "div"],
    ["<b><i>x</i></b>", "p"],
    ["<path d=x />", "svg"],
    ["x<br>y", "td"],
  ])("lets %s into %s", async (html, parent) => {
    await expect(put(html, parent)).resolves.toBeUndefined();
  });

  it.each([
    ["<tr><td>1", "div"],
    ["<div>x</div>", "tr"],
    ["<div>x</div>", "p"],
    ["<p>x</p>", "p"],
    ["<td>1", "ul"],
    ["<a>1<a>2</a></a>", "div"],
    ["<head></head>", "div"],
    ["<body>x</body>", "div"],
    ["<form><form></form></form>", "div"],
    ["<p>a</p>", "svg"],
  ])("keeps %s out of %s", async (html, parent) => {
    await expect(put(html, parent)).rejects.toThrow(expect.objectContaining({ status: 400, code: "INVALID_HTML" }));
  });

  it("says which element does not fit, and where in the fragment it is", async () => {
    await expect(put("x\n<b>y</b><tr></tr>", "div")).rejects.toThrow("<tr> cannot stand there in <div>");
    await expect(put("x\n<b>y</b><tr></tr>", "div")).rejects.toThrow("(line 2, column 9)");
  });
});
