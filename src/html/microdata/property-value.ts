import { getAttributeValue, textContent } from "domutils";
import type { SourceElement } from "../document/html-nodes.ts";

/** The attribute that has the value of a property, for the elements that do not have it in their text. */
const valueAttributes: ReadonlyMap<string, string> = new Map([
  ["meta", "content"],
  ...["audio", "embed", "iframe", "img", "source", "track", "video"].map((name) => [name, "src"] as const),
  ...["a", "area", "link"].map((name) => [name, "href"] as const),
  ["object", "data"],
  ["data", "value"],
  ["meter", "value"],
]);

/** The value of a property that is no item, as the HTML Standard has it ("Values" of microdata); URLs as written. */
export function propertyValue(element: SourceElement): string {
  const name = valueAttributes.get(element.name);
  if (name !== undefined) return getAttributeValue(element, name) ?? "";
  const date = element.name === "time" ? getAttributeValue(element, "datetime") : undefined;
  return date ?? textContent(element);
}
