import type { SourceElement, TreeParent } from "../../document/html-nodes.ts";
import { DocumentError } from "../../document-error.ts";
import { outermost } from "../placement.ts";
import { growing, type Operation, position, selector } from "./operation.ts";

export const move: Operation<"move"> = {
  fields: { to: selector, position },
  affects: (edit, elements, to) => [{ effect: "removes", elements }, growing(to, edit.position)],
  async make(page, edit, matches, [to, ...others]) {
    if (!to || others.length > 0) throw new DocumentError("INVALID_TARGET", "`to` has to select just one element.");
    const moved = outermost(matches);
    for (let each: TreeParent | null = to; each; each = each.parent) {
      if (!moved.some((element) => element === each)) continue;
      throw new DocumentError("INVALID_TARGET", "An element cannot be moved to itself, or into itself.");
    }
    const html = await page.outerHtml(moved);
    const { language } = page;
    const [place] = await page.change([...moved, to], (document, elements) =>
      language.remove(document, elements.slice(0, -1)),
    );
    const target: readonly SourceElement[] = place ? [place] : [];
    await page.change(target, (document, elements) => language.insert(document, elements, html, edit.position));
  },
};
