import { outermost } from "../placement.ts";
import { changesThem, type Operation, text } from "./operation.ts";

export const setContent: Operation<"setContent"> = {
  fields: { html: text },
  affects: changesThem,
  make(page, { html }, matches) {
    const length = html.length * outermost(matches).length;
    return page.change(matches, (document, elements) => page.language.fill(document, elements, () => html), length);
  },
};
