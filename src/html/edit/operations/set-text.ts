import { isHtmlElement, type SourceElement } from "../../document/html-nodes.ts";
import { textContents } from "../../document/tag-rules.ts";
import { outermost } from "../placement.ts";
import { changesThem, type Operation, text } from "./operation.ts";

const references: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;" };

export const setText: Operation<"setText"> = {
  fields: { text },
  affects: changesThem,
  make(page, edit, matches) {
    const { kind } = page.document;
    const escaped = edit.text.replace(/[&<>\r]/g, (character) => references[character] ?? "");
    const markupFor = (element: SourceElement): string => {
      const content = kind === "html" && isHtmlElement(element) ? textContents[element.name] : undefined;
      return content === undefined || content === "rcdata" ? escaped : edit.text; // there are no references in a script
    };
    const length = edit.text.length * outermost(matches).length;
    return page.change(matches, (document, elements) => page.language.fill(document, elements, markupFor), length);
  },
};
