import type { SourceElement } from "../../document/html-nodes.ts";
import { attributeChanges } from "../attribute-placement.ts";
import { changesThem, type EditedPage, type Field, type Operation, text } from "./operation.ts";

const classes: Field = {
  expected: "a class, or several with blanks between them",
  accepts: (value) => text.accepts(value) && /[^\t\n\f\r ]/.test(String(value)),
};

export const addClass: Operation<"addClass"> = {
  fields: { class: classes },
  affects: changesThem,
  make: (page, edit, matches) =>
    changeClasses(page, matches, (value) => {
      const missing = tokensOf(edit.class).filter(
        (token, index, all) => !tokensOf(value).includes(token) && all.indexOf(token) === index,
      );
      if (missing.length === 0) return value;
      return value + (value === "" || /[\t\n\f\r ]$/.test(value) ? "" : " ") + missing.join(" ");
    }),
};

export const removeClass: Operation<"removeClass"> = {
  fields: { class: classes },
  affects: changesThem,
  make: (page, edit, matches) =>
    changeClasses(page, matches, (value) => {
      const gone = tokensOf(edit.class);
      const left = value.replace(/[^\t\n\f\r ]+[\t\n\f\r ]*/g, (part) =>
        tokensOf(part).some((token) => gone.includes(token)) ? "" : part,
      );
      return /[\t\n\f\r ]$/.test(value) ? left : left.replace(/[\t\n\f\r ]+$/, "");
    }),
};

function changeClasses(
  page: EditedPage,
  matches: readonly SourceElement[],
  change: (value: string) => string,
): Promise<readonly SourceElement[]> {
  const valueFor = ({ attribs }: SourceElement): string | undefined => {
    const value = attribs["class"];
    const changed = change(value ?? "");
    return value === undefined && changed === "" ? undefined : changed;
  };
  return page.change(matches, (document, elements) => attributeChanges(document, elements, "class", valueFor));
}

function tokensOf(value: string): readonly string[] {
  return value.split(/[\t\n\f\r ]+/).filter((token) => token !== "");
}
