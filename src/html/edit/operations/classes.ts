import type { SlicedWork } from "../../../event-loop/sliced-work.ts";
import type { SourceElement } from "../../document/html-nodes.ts";
import { attributeChanges } from "../attribute-placement.ts";
import { withClasses, withoutClasses } from "./class-tokens.ts";
import { changesThem, type EditedPage, type Field, type Operation, text } from "./operation.ts";

const classes: Field = {
  expected: "a class, or several with blanks between them",
  accepts: (value) => text.accepts(value) && /[^\t\n\f\r ]/.test(String(value)),
};

export const addClass: Operation<"addClass"> = {
  fields: { class: classes },
  affects: changesThem,
  make: (page, edit, matches) => changeClasses(page, matches, (value) => withClasses(value, edit.class)),
};

export const removeClass: Operation<"removeClass"> = {
  fields: { class: classes },
  affects: changesThem,
  make: (page, edit, matches) => changeClasses(page, matches, (value) => withoutClasses(value, edit.class)),
};

function changeClasses(
  page: EditedPage,
  matches: readonly SourceElement[],
  change: (value: string) => string,
): SlicedWork<readonly SourceElement[]> {
  const valueFor = ({ attribs }: SourceElement): string | undefined => {
    const value = attribs["class"];
    const changed = change(value ?? "");
    return value === undefined && changed === "" ? undefined : changed;
  };
  return page.change(matches, (document, elements) => attributeChanges(document, elements, "class", valueFor));
}
