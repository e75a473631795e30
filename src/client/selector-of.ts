import { dom } from "./dom.ts";

/** Marks an element that is not in the file: it belongs to the browser, with all that is in it. */
export const localMark = "[data-local]";

/** The `#id` of an element where it is unique, otherwise the way from the nearest one that has such an id. */
export function selectorOf(element: Element): string {
  if (dom(element).closest(localMark) || !dom(element).isConnected) throw new TypeError("not in the file");
  const steps: string[] = [];
  for (let current: Element | null = element; current; current = dom(current).parentElement) {
    const id = dom(current).id;
    const parent = dom(current).parentElement;
    const byId = `#${CSS.escape(id)}`;
    const isUnique = id !== "" && dom(document).querySelectorAll(byId).length === 1;
    const position = parent && parent !== dom(document).documentElement ? nthOfType(current) : "";
    steps.unshift(isUnique ? byId : CSS.escape(dom(current).localName) + position);
    if (isUnique) break;
  }
  return steps.join(" > ");
}

/** By type, since scripts mostly add other types. Marked elements are not counted, in the file neither. */
function nthOfType(element: Element): string {
  let position = 1;
  let isMarked = false;
  let before = dom(element).previousElementSibling;
  for (; before; before = dom(before).previousElementSibling) {
    // Not `localName`: to CSS, `a` in HTML and `a` in SVG are of different types.
    if (dom(before).nodeName !== dom(element).nodeName) continue;
    if (dom(before).matches(localMark)) isMarked = true;
    else position += 1;
  }
  const type = CSS.escape(dom(element).localName);
  return isMarked ? `:nth-child(${position} of ${type}:not(${localMark}))` : `:nth-of-type(${position})`;
}
