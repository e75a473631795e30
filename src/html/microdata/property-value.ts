import { attributeOf, nodesBelow, type PageElement } from "./parse-page.ts";

/** The attribute that has the value of a property, for the elements that do not have it in their text. */
const valueAttributes: ReadonlyMap<string, string> = new Map([
  ["meta", "content"],
  ...["audio", "embed", "iframe", "img", "source", "track", "video"].map((name) => [name, "src"] as const),
  ...["a", "area", "link"].map((name) => [name, "href"] as const),
  ["object", "data"],
  ["data", "value"],
  ["meter", "value"],
]);

/**
 * The value of a property that is no item, as the HTML Standard has it ("Values" of microdata); URLs as written.
 * `spend` is told how many nodes and characters were looked at for it.
 */
export function propertyValue(element: PageElement, spend: (cost: number) => void): string {
  const name = valueAttributes.get(element.tagName);
  if (name !== undefined) return attributeOf(element, name) ?? "";
  const date = element.tagName === "time" ? attributeOf(element, "datetime") : undefined;
  return date ?? textOf(element, spend);
}

function textOf(element: PageElement, spend: (cost: number) => void): string {
  const texts: string[] = [];
  for (const node of nodesBelow(element)) {
    const text = node.nodeName === "#text" && "value" in node ? node.value : "";
    spend(1 + text.length);
    if (text) texts.push(text);
  }
  return texts.join("");
}
