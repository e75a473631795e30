import { attributeChanges } from "../attribute-placement.ts";
import { changesThem, type Operation, text } from "./operation.ts";

export const setAttribute: Operation<"setAttribute"> = {
  fields: { name: text, value: text },
  affects: changesThem,
  make: (page, { name, value }, matches) =>
    page.change(matches, (document, elements) => attributeChanges(document, elements, name, () => value)),
};

export const removeAttribute: Operation<"removeAttribute"> = {
  fields: { name: text },
  affects: changesThem,
  make: (page, { name }, matches) =>
    page.change(matches, (document, elements) => attributeChanges(document, elements, name, () => undefined)),
};
