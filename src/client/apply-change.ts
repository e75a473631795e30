import { withClasses, withoutClasses } from "../html/edit/class-tokens.ts";
import type { Edit, EditOf, InsertPosition } from "../html/edit/edits.ts";
import type { ChangedByEdit, PageChange } from "./connection.ts";
import { dom } from "./dom.ts";

/** Makes a change of elements in a copy of the file. `false` where the file has to be read instead. */
export function applyChange(copy: Document, change: PageChange): boolean {
  try {
    return editsOf(change).every((edit) => applyEdit(copy, edit));
  } catch {
    return false; // a selector that the server has decoded, or a change of another kind
  } finally {
    dom(copy).normalize(); // text beside text is one text when the file is read
  }
}

function editsOf({ kind, edits, selector = "", matches = -1, html = "" }: PageChange): readonly ChangedByEdit[] {
  const about = { selector, matches };
  if (edits) return edits;
  if (kind === "elements-replaced") return [{ op: "replace", html, ...about }];
  if (kind === "elements-appended") return [{ op: "insert", position: "beforeend", html, ...about }];
  if (kind === "elements-deleted") return [{ op: "remove", ...about }];
  throw new TypeError(kind);
}

function applyEdit(copy: Document, edit: ChangedByEdit): boolean {
  const elements = [...dom(copy).querySelectorAll(edit.selector)];
  if (elements.length !== edit.matches) return false;
  if ("html" in edit && /<noscript/i.test(edit.html)) return false; // it would be parsed as where scripting is off
  const make = makers[edit.op] as Make<Edit["op"]>; // it gets edits of its own `op` only
  return make(elements, edit, copy);
}

type Make<Op extends Edit["op"]> = (elements: readonly Element[], edit: EditOf<Op>, copy: Document) => boolean;

const makers: { readonly [Op in Edit["op"]]: Make<Op> } = {
  replace: (elements, { html }) =>
    changeEach(outermost(elements), "beforebegin", (element) => {
      element.insertAdjacentHTML("beforebegin", html);
      element.remove();
    }),
  insert: (elements, { html, position }) =>
    changeEach(elements, position, (element) => element.insertAdjacentHTML(position, html)),
  remove(elements) {
    for (const element of elements) dom(element).remove();
    return true;
  },
  move(elements, { to, position }, copy) {
    const [target, ...others] = dom(copy).querySelectorAll(to);
    const moved = outermost(elements);
    if (!target || others.length > 0 || !isPredictable(target, position)) return false;
    // Elsewhere their markup may read as other elements: `td` needs a row, and `circle` an SVG.
    const name = placeAt(target, position)?.localName;
    if (moved.some((element) => dom(element).parentElement?.localName !== name)) return false;
    dom(target)[movers[position]](...moved);
    return true;
  },
  setContent: (elements, { html }) =>
    changeEach(outermost(elements), "afterbegin", (element) => {
      element.replaceChildren();
      element.insertAdjacentHTML("afterbegin", html);
    }),
  setText: (elements, { text }) =>
    changeEach(outermost(elements), "afterbegin", (element) => element.replaceChildren(text)),
  setAttribute: (elements, { name, value }) => changeAttribute(elements, name, () => value),
  removeAttribute: (elements, { name }) => changeAttribute(elements, name, () => null),
  addClass: (elements, edit) => changeAttribute(elements, "class", (value) => withClasses(value ?? "", edit.class)),
  removeClass: (elements, edit) =>
    changeAttribute(elements, "class", (value) => value && withoutClasses(value, edit.class)),
  test: () => true,
};

const movers = { beforebegin: "before", afterbegin: "prepend", beforeend: "append", afterend: "after" } as const;

/** `false` at the first that cannot be foretold. */
function changeEach(
  elements: readonly Element[],
  position: InsertPosition,
  change: (element: Element) => void,
): boolean {
  return elements.every((element) => {
    if (!isPredictable(element, position)) return false;
    change(dom(element));
    return true;
  });
}

function changeAttribute(
  elements: readonly Element[],
  name: string,
  change: (value: string | null) => string | null,
): boolean {
  return elements.every((element) => {
    // `viewbox` is `viewBox` in SVG. A page may give names that scripts may not.
    if (!(element instanceof HTMLElement) || !/^[a-z][\w.-]*$/i.test(name)) return false;
    const value = change(dom(element).getAttribute(name));
    if (value === null) dom(element).removeAttribute(name);
    else dom(element).setAttribute(name, value);
    return true;
  });
}

/** Whether a browser makes of HTML there, by itself, what it makes of it in the page. */
function isPredictable(element: Element, position: InsertPosition): boolean {
  const place = placeAt(element, position);
  if (!place || dom(place).matches("html, head, table, template, noscript")) return false;
  return place !== element || place.localName !== "body"; // at its ends, white space is of more than one kind
}

function placeAt(element: Element, position: InsertPosition): Element | null {
  const isInside = position === "afterbegin" || position === "beforeend";
  return isInside ? element : dom(element).parentElement;
}

/** Without those that lie in others; they are in the order of the document. */
function outermost(elements: readonly Element[]): readonly Element[] {
  let last: Element | undefined;
  return elements.filter((element) => {
    if (last && dom(last).contains(element)) return false;
    last = element;
    return true;
  });
}
