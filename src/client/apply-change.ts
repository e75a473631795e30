import { withClasses, withoutClasses } from "../html/edit/class-tokens.ts";
import type { Edit, EditOf, InsertPosition } from "../html/edit/edits.ts";
import type { ChangedByEdit, PageChange } from "./change.ts";
import { dom } from "./dom.ts";
import { addToBody } from "./parse-page.ts";

/** Where a browser parses what is added differently from what is there: only the whole file tells what became of them. */
const unpredictable = "html,head,table,template,noscript";
/**
 * Makes a change of elements in a copy of the file, all edits of a list in their order. Gives `false`, with the copy in no
 * particular state, where it cannot be known from the message what the file has become: then it has to be read.
 */
export function applyChange(copy: Document, change: Omit<PageChange, "own">): boolean {
  const isMade = editsOf(change)?.every((edit) => applyEdit(copy, edit));
  dom(copy).normalize(); // text beside text is one text when the file is read
  return isMade === true;
}

function editsOf(change: Omit<PageChange, "own">): readonly ChangedByEdit[] | undefined {
  const { kind, edits, selector = "", matches = -1, html = "" } = change;
  const about = { selector, matches };
  const single: { readonly [Kind in PageChange["kind"]]?: readonly ChangedByEdit[] } = {
    "elements-replaced": [{ op: "replace", html, ...about }],
    "elements-appended": [{ op: "insert", position: "beforeend", html, ...about }],
    "elements-deleted": [{ op: "remove", ...about }],
  };
  return edits ?? single[kind];
}

function applyEdit(copy: Document, edit: ChangedByEdit): boolean {
  const elements = find(copy, edit.selector);
  if (elements?.length !== edit.matches) return false;
  if ("html" in edit && /<noscript/i.test(edit.html)) return false; // it would be parsed as where scripting is off
  const make = makers[edit.op] as Make<Edit["op"]>; // it gets edits of its own `op` only
  return make(elements, edit, copy);
}

/** Makes an edit of elements; `false` as for a change. */
type Make<Op extends Edit["op"]> = (elements: readonly Element[], edit: EditOf<Op>, copy: Document) => boolean;

const makers: { readonly [Op in Edit["op"]]: Make<Op> } = {
  replace: (elements, { html }) =>
    outermost(elements).every((element) => {
      if (!isPredictable(element, "beforebegin")) return false;
      dom(element).insertAdjacentHTML("beforebegin", html);
      dom(element).remove();
      return true;
    }),
  insert: (elements, { html, position }) =>
    elements.every((element) => add(element, position, () => dom(element).insertAdjacentHTML(position, html))),
  remove(elements) {
    for (const element of elements) dom(element).remove();
    return true;
  },
  move(elements, { to, position }, copy) {
    const [target, ...others] = find(copy, to) ?? [];
    const moved = outermost(elements);
    if (!target || others.length > 0 || !readsAs(moved, placeAt(target, position))) return false;
    return add(target, position, () => dom(target)[movers[position]](...moved));
  },
  setContent: (elements, { html }) => fill(elements, (element) => dom(element).insertAdjacentHTML("afterbegin", html)),
  setText: (elements, { text }) => fill(elements, (element) => dom(element).append(text)),
  setAttribute: (elements, { name, value }) => changeAttribute(elements, name, () => value),
  removeAttribute: (elements, { name }) => changeAttribute(elements, name, () => null),
  addClass: (elements, edit) => changeAttribute(elements, "class", (value) => withClasses(value ?? "", edit.class)),
  removeClass: (elements, edit) =>
    changeAttribute(elements, "class", (value) => value && withoutClasses(value, edit.class)),
  test: () => true,
};

const movers = { beforebegin: "before", afterbegin: "prepend", beforeend: "append", afterend: "after" } as const;

function add(element: Element, position: InsertPosition, put: () => void): boolean {
  if (!isPredictable(element, position)) return false;
  if (position === "beforeend" && element.localName === "body") return addToBody(element.ownerDocument, put);
  put();
  return true;
}

function fill(elements: readonly Element[], put: (element: Element) => void): boolean {
  return outermost(elements).every((element) => {
    if (!isPredictable(element, "afterbegin")) return false;
    dom(element).replaceChildren();
    put(element);
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
  if (!place || dom(place).matches(unpredictable)) return false;
  return position !== "afterbegin" || place.localName !== "body"; // where white space counts only behind a tag
}

/** Whose content grows. */
function placeAt(element: Element, position: InsertPosition): Element | null {
  const isInside = position === "afterbegin" || position === "beforeend";
  return isInside ? element : dom(element).parentElement;
}

/** Whether the markup of elements is still just them in another place: `td` needs a row, and `circle` an SVG. */
function readsAs(elements: readonly Element[], place: Element | null): boolean {
  const trial = place && (dom(place).cloneNode() as Element);
  if (!trial) return false;
  dom(trial).insertAdjacentHTML("afterbegin", elements.map((element) => dom(element).outerHTML).join(""));
  const { childNodes } = dom(trial);
  return (
    childNodes.length === elements.length && elements.every((each, at) => dom(each).isEqualNode(childNodes[at] ?? null))
  );
}

/** Without those that lie in others. */
function outermost(elements: readonly Element[]): readonly Element[] {
  let last: Element | undefined;
  return elements.filter((element) => {
    if (last && dom(last).contains(element)) return false;
    last = element;
    return true;
  });
}

/** As the server reads a selector: as it stands, and if that does not parse, percent-decoded. */
function find(copy: Document, selector: string): readonly Element[] | undefined {
  for (const decode of [String, decodeURIComponent]) {
    try {
      return [...dom(copy).querySelectorAll(decode(selector))];
    } catch {
      // Not read that way.
    }
  }
  return undefined;
}
