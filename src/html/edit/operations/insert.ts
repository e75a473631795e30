import { growing, type Operation, position, text } from "./operation.ts";

export const insert: Operation<"insert"> = {
  fields: { position, html: text },
  affects: (edit, matches) => [growing(matches, edit.position)],
  make(page, edit, matches) {
    const { html } = edit;
    const length = html.trim() === "" ? 0 : html.length * matches.length;
    return page.change(
      matches,
      (document, elements) => page.language.insert(document, elements, html, edit.position),
      length,
    );
  },
};
