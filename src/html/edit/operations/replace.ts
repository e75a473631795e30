import { invalidHtml } from "../../document-error.ts";
import { outermost } from "../placement.ts";
import { changesThem, type Operation, text } from "./operation.ts";

export const replace: Operation<"replace"> = {
  fields: { html: text },
  affects: changesThem,
  make(page, { html }, matches) {
    if (html.trim() === "") throw invalidHtml("it is empty; elements are removed by another edit", 1, 1);
    const { language, checkReplacement } = page;
    const length = html.length * outermost(matches).length;
    return page.change(
      matches,
      (document, elements) => language.replace(document, elements, html, checkReplacement),
      length,
    );
  },
};
