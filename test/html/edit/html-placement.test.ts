import { describe, expect, it } from "vitest";
import type { SlicedWork } from "../../../src/event-loop/sliced-work.ts";
import { firstLineAt, htmlLanguage } from "../../../src/html/edit/html-placement.ts";
import { type Placement, splice } from "../../../src/html/edit/placement.ts";
import { elementsOf } from "../../elements/pages.ts";
import { done } from "../../helpers/done.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

const { replace, insert, remove } = htmlLanguage;

/** A page with the changes that are made for its elements of a name; `undefined` where one has no place. */
async function changed(
  page: string,
  name: string,
  place: (...given: Parameters<typeof remove>) => SlicedWork<readonly Placement[] | undefined>,
): Promise<string | undefined> {
  const document = await parseHtml(page);
  const elements = elementsOf(document).filter((element) => element.name === name);
  const placements = await done(place(document, elements));
  return placements && splice(page, placements);
}

describe("the rules of HTML", () => {
  it("close what was left open before a place", async () => {
    const page = "<ul><li>a<li>b</ul>";
    expect(await changed(page, "ul", (document, elements) => insert(document, elements, "text", "beforeend"))).toBe(
      "<ul><li>a<li>b</li>text</ul>",
    );
    expect(await changed("<p>a<div>b</div>c", "div", remove)).toBe("<p>a</p>c");
    expect(await changed("<p>a<div>b</div>c", "div", (document, [each]) => replaced(document, each, "t"))).toBe(
      "<p>a</p>tc",
    );
  });

  it("have no place for an element without characters of its own", async () => {
    expect(await changed("<table><tr><td>1</table>", "tbody", remove)).toBeUndefined();
  });

  it("keep html, head and body, also those that are implied", async () => {
    const document = await parseHtml("<p>a");
    expect(htmlLanguage.permanentElements(document.root).map(({ name }) => name)).toEqual(["html", "head", "body"]);
    await expect(changed("<p>a", "body", remove)).rejects.toMatchObject({ code: "INVALID_TARGET" });
  });

  it("ask whether an element may give way, and to what", async () => {
    const document = await parseHtml("<p id=a>");
    const asked: unknown[] = [];
    const [element] = elementsOf(document).slice(-1);
    await done(replace(document, element ? [element] : [], "<i>b</i>", (...given) => asked.push(given)));
    expect(asked).toEqual([[element, expect.objectContaining({ html: "<i>b</i>" })]]);
  });
});

function replaced(
  document: Parameters<typeof replace>[0],
  element: Parameters<typeof replace>[1][number] | undefined,
  markup: string,
): ReturnType<typeof replace> {
  return replace(document, element ? [element] : [], markup, () => {});
}

describe("firstLineAt", () => {
  it("doubles a line end right behind the start tag only", async () => {
    const pre = elementsOf(await parseHtml("<pre>a</pre>")).find(({ name }) => name === "pre");
    if (!pre) throw new Error("no pre");
    expect([firstLineAt(pre, 5, "\nx"), firstLineAt(pre, 5, "\r\nx"), firstLineAt(pre, 5, "x")]).toEqual([
      "\n",
      "\n",
      "",
    ]);
    expect(firstLineAt(pre, 6, "\nx")).toBe("");
  });
});
