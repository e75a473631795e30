import { describe, expect, it } from "vitest";
import { splicedLength, treeEdit } from "../../../src/html/edit/placement.ts";
import { splice } from "../../../src/html/edit/splice.ts";
import { parseFragment } from "../../../src/html/edit/well-formed.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

describe("treeEdit", () => {
  it("says what stands where in the edited source", async () => {
    const page = "<p>a</p><i>b</i><u>c</u>";
    const [, , body, p, i, u] = elementsOf(await parseHtml(page));
    if (!body || !p || !i || !u) throw new Error("the page is not as it should be");
    const fragment = await parseFragment("<b>x</b>");
    const placements = [
      { start: 0, end: 8, text: fragment.html, fragment, removes: [p] },
      { start: 8, end: 24, text: "", removes: [i, u] },
      { start: 24, end: 24, text: `-${fragment.html}`, fragment, fragmentStart: 1, appendsTo: body },
    ];
    const { instead, added } = treeEdit(placements);
    expect(splice(page, placements)).toBe("<b>x</b>-<b>x</b>");
    expect([...instead]).toEqual([
      [p, { fragment, offset: 0, parent: body }],
      [i, undefined],
      [u, undefined],
    ]);
    expect([...added]).toEqual([[body, [{ fragment, offset: 9, parent: body }]]]);
  });
});

describe("splicedLength", () => {
  it("is the length of what splice makes", () => {
    const replacements = [
      { start: 1, end: 3, text: "xyz" },
      { start: 4, end: 4, text: "!" },
    ];
    expect(splicedLength("abcdef", replacements)).toBe(splice("abcdef", replacements).length);
  });
});
