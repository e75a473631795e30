import { elementSpan, hasEndTag, isTagOnly } from "../../document/element-span.ts";
import type { SourceElement, TreeParent } from "../../document/html-nodes.ts";
import { DocumentError } from "../../document-error.ts";
import { outermost } from "../placement.ts";
import { growing, type Operation, position, selector } from "./operation.ts";

export const move: Operation<"move"> = {
  fields: { to: selector, position },
  affects: (edit, elements, to) => [{ effect: "removes", elements }, growing(to, edit.position)],
  *make(page, edit, matches, [to, ...others]) {
    if (!to || others.length > 0) throw new DocumentError("INVALID_TARGET", "`to` has to select just one element.");
    const moved = outermost(matches);
    for (let each: TreeParent | null = to; each; each = each.parent) {
      if (!moved.some((element) => element === each)) continue;
      throw new DocumentError("INVALID_TARGET", "An element cannot be moved to itself, or into itself.");
    }
    const html: string[] = [];
    for (const element of moved) {
      const bytes = yield* page.outerHtml([element]);
      html.push(element === moved.at(-1) ? bytes : closed(element, bytes, page.document.source));
    }
    const { language } = page;
    const [place] = yield* page.change([...moved, to], (document, elements) =>
      language.remove(document, elements.slice(0, -1)),
    );
    const target: readonly SourceElement[] = place ? [place] : [];
    yield* page.change(target, (document, elements) =>
      language.insert(document, elements, html.join(""), edit.position),
    );
  },
};

/** The bytes of an element, with the end tag that they lack: the element that is put behind it would become part of it. */
function closed(element: SourceElement, html: string, source: string): string {
  const { start, end } = elementSpan(element) ?? { start: 0, end: 0 };
  const isOpen = !hasEndTag(element) && !isTagOnly(element) && html === source.slice(start, end);
  return isOpen ? `${html}</${element.name}>` : html;
}
