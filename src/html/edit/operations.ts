import { atHand, type SlicedWork } from "../../event-loop/sliced-work.ts";
import { elementSpan, hasEndTag, isTagOnly } from "../document/element-span.ts";
import { isHtmlElement, SourceElement, type TreeParent } from "../document/html-nodes.ts";
import type { SourceDocument } from "../document/source-document.ts";
import { textContents } from "../document/tag-rules.ts";
import { DocumentError, invalidHtml } from "../document-error.ts";
import type { ContentModel } from "../tokenizer/tokens.ts";
import { attributeChanges } from "./attribute-placement.ts";
import { withClasses, withoutClasses } from "./class-tokens.ts";
import type { Edit, EditBase, EditOf, InsertPosition } from "./edits.ts";
import { fillElements, insertMarkup, removeElements, replaceElements } from "./element-placement.ts";
import { type CheckReplacement, outermost, type Placement, parentAt } from "./placement.ts";

/** What an edit does to elements. */
export type Effect = "reads" | "changes" | "grows" | "removes";

/** Elements, and what an edit does to them. */
export interface Affected {
  readonly effect: Effect;
  readonly elements: Elements;
}

/** A page that is edited. */
export interface EditedPage {
  readonly document: SourceDocument;
  /** What may keep an element from giving way to a fragment. */
  readonly checkReplacement: CheckReplacement;
  /**
   * Makes a change and proves it. Gives the elements that are still there, as they are now. `length`: characters that
   * are added, where that is known beforehand.
   */
  change(
    elements: Elements,
    place: (document: SourceDocument, elements: Elements) => SlicedWork<readonly Placement[] | undefined>,
    length?: number,
  ): SlicedWork<Elements>;
  /** The outer HTML of elements, as a GET tells it. */
  outerHtml(elements: Elements): SlicedWork<string>;
}

type Elements = readonly SourceElement[];

/** Whether a field is what it has to be, and what that is. */
interface Field {
  readonly expected: string;
  accepts(value: unknown): boolean;
}

/** One `op`. */
interface Operation<Op extends Edit["op"]> {
  /** The fields that it has besides those of all edits. */
  readonly fields: Readonly<Record<Exclude<keyof EditOf<Op>, keyof EditBase | "op">, Field>>;
  /** What it does to which elements; by default it changes those that match. `to`: what the selector `to` selects. */
  affects?(edit: EditOf<Op>, matches: Elements, to: Elements): readonly Affected[];
  /** Makes the edit, of one element or more. */
  make(page: EditedPage, edit: EditOf<Op>, matches: Elements, to: Elements): SlicedWork<unknown>;
}

// JSON can hold half of a character, which no file can.
const text: Field = {
  expected: "a text without NUL and without half characters",
  accepts: (value) => typeof value === "string" && !value.includes("\0") && !/[\ud800-\udfff]/u.test(value),
};

const selector: Field = {
  expected: "a selector",
  accepts: (value) => typeof value === "string" && value !== "",
};

const position: Field = {
  expected: "beforebegin, afterbegin, beforeend or afterend",
  accepts: (value) => ["beforebegin", "afterbegin", "beforeend", "afterend"].some((known) => known === value),
};

const classes: Field = {
  expected: "a class, or several with blanks between them",
  accepts: (value) => text.accepts(value) && /[^\t\n\f\r ]/.test(String(value)),
};

const references: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;" };

/** All that an edit can be. */
const operations: { readonly [Op in Edit["op"]]: Operation<Op> } = {
  replace: {
    fields: { html: text },
    make(page, { html }, matches) {
      if (html.trim() === "") throw invalidHtml("it is empty; elements are removed by another edit", 1, 1);
      const length = html.length * outermost(matches).length;
      const { checkReplacement } = page;
      return page.change(matches, (tree, elements) => replaceElements(tree, elements, html, checkReplacement), length);
    },
  },
  insert: {
    fields: { position, html: text },
    affects: (edit, matches) => [growing(matches, edit.position)],
    make(page, { html, position }, matches) {
      const length = html.trim() === "" ? 0 : html.length * matches.length;
      return page.change(matches, (tree, elements) => insertMarkup(tree, elements, html, position), length);
    },
  },
  remove: {
    fields: {},
    affects: (_edit, elements) => [{ effect: "removes", elements }],
    make: (page, _edit, matches) => page.change(matches, removeElements),
  },
  move: {
    fields: { to: selector, position },
    affects: (edit, elements, to) => [{ effect: "removes", elements }, growing(to, edit.position)],
    make: move,
  },
  setContent: {
    fields: { html: text },
    make(page, { html }, matches) {
      const length = html.length * outermost(matches).length;
      return page.change(matches, (tree, elements) => fillElements(tree, elements, () => html), length);
    },
  },
  setText: {
    fields: { text },
    make(page, { text }, matches) {
      const escaped = text.replace(/[&<>\r]/g, (character) => references[character] ?? "");
      const markupFor = (element: SourceElement): string => {
        const content = textContentOf(page, element);
        return content === undefined || content === "rcdata" ? escaped : text; // there are no references in a script
      };
      const length = text.length * outermost(matches).length;
      return page.change(matches, (tree, elements) => fillElements(tree, elements, markupFor), length);
    },
  },
  setAttribute: {
    fields: { name: text, value: text },
    make: (page, { name, value }, matches) => changeAttribute(page, matches, name, () => value),
  },
  removeAttribute: {
    fields: { name: text },
    make: (page, { name }, matches) => changeAttribute(page, matches, name, () => undefined),
  },
  addClass: {
    fields: { class: classes },
    make: (page, edit, matches) => changeClasses(page, matches, (value) => withClasses(value, edit.class)),
  },
  removeClass: {
    fields: { class: classes },
    make: (page, edit, matches) => changeClasses(page, matches, (value) => withoutClasses(value, edit.class)),
  },
  test: {
    fields: {},
    affects: (_edit, elements) => [{ effect: "reads", elements }],
    make: () => atHand(undefined),
  },
};

function operationOf({ op }: Edit): Operation<Edit["op"]> {
  return operations[op] as unknown as Operation<Edit["op"]>; // it gets edits of its own `op` only
}

/** What an edit does to which elements. */
export function affectedBy(edit: Edit, elements: Elements, to: Elements): readonly Affected[] {
  return operationOf(edit).affects?.(edit, elements, to) ?? [{ effect: "changes", elements }];
}

/** Makes an edit, of one element or more. */
export function makeEdit(page: EditedPage, edit: Edit, matches: Elements, to: Elements): SlicedWork<unknown> {
  return operationOf(edit).make(page, edit, matches, to);
}

/** The elements whose content grows where something is added at a position. */
function growing(elements: Elements, position: InsertPosition): Affected {
  const parents = elements.map((element) => parentAt({ element, position }));
  return { effect: "grows", elements: [...new Set(parents)].filter((each) => each instanceof SourceElement) };
}

function* move(page: EditedPage, edit: EditOf<"move">, matches: Elements, [to, ...others]: Elements): SlicedWork<void> {
  if (!to || others.length > 0) throw new DocumentError("INVALID_TARGET", "`to` has to select just one element.");
  const moved = outermost(matches);
  for (let each: TreeParent | null = to; each; each = each.parent) {
    if (!moved.some((element) => element === each)) continue;
    throw new DocumentError("INVALID_TARGET", "An element cannot be moved to itself, or into itself.");
  }
  const parent = parentAt({ element: to, position: edit.position });
  if (parent instanceof SourceElement && textContentOf(page, parent)) {
    throw new DocumentError("INVALID_TARGET", `A ${parent.name} holds text, so no element can be moved into it.`);
  }
  const html: string[] = [];
  for (const element of moved) {
    const bytes = yield* page.outerHtml([element]);
    html.push(element === moved.at(-1) ? bytes : closed(element, bytes, page.document.source));
  }
  const [place] = yield* page.change([...moved, to], (document, elements) =>
    removeElements(document, elements.slice(0, -1)),
  );
  yield* page.change(place ? [place] : [], (document, elements) =>
    insertMarkup(document, elements, html.join(""), edit.position),
  );
}

/** How the text of an element that holds nothing else is read; `undefined` for one that holds elements. */
function textContentOf({ document }: EditedPage, element: SourceElement): ContentModel | undefined {
  return document.kind === "html" && isHtmlElement(element) ? textContents[element.name] : undefined;
}

/** The bytes of an element, with a missing end tag added: the element put behind it would become part of it. */
function closed(element: SourceElement, html: string, source: string): string {
  const { start, end } = elementSpan(element) ?? { start: 0, end: 0 };
  const isOpen = !hasEndTag(element) && !isTagOnly(element) && html === source.slice(start, end);
  return isOpen ? `${html}</${element.name}>` : html;
}

function changeAttribute(
  page: EditedPage,
  matches: Elements,
  name: string,
  valueFor: (element: SourceElement) => string | undefined,
): SlicedWork<Elements> {
  return page.change(matches, (document, elements) => attributeChanges(document, elements, name, valueFor));
}

function changeClasses(page: EditedPage, matches: Elements, change: (value: string) => string): SlicedWork<Elements> {
  return changeAttribute(page, matches, "class", ({ attribs }) => {
    const value = attribs["class"];
    const changed = change(value ?? "");
    return value === undefined && changed === "" ? undefined : changed;
  });
}

const fieldsOfAll: Readonly<Record<string, Field>> = {
  selector,
  matches: {
    expected: "a number of elements",
    accepts: (value) => value === undefined || (Number.isSafeInteger(value) && Number(value) >= 0),
  },
  etag: { expected: "an entity tag", accepts: (value) => value === undefined || text.accepts(value) },
};

export const defaultMaxEdits = 1000;

/** The edits that a value is. Throws `INVALID_EDIT` and `TOO_MANY_EDITS`. */
export function checkEdits(value: unknown, maxEdits: number = defaultMaxEdits): readonly Edit[] {
  if (!Array.isArray(value)) throw new DocumentError("INVALID_EDIT", "Expected a list of edits.");
  if (value.length > maxEdits) {
    throw new DocumentError("TOO_MANY_EDITS", `The list has ${value.length} edits; ${maxEdits} are allowed.`);
  }
  for (const [index, edit] of value.entries()) checkEdit(edit, index);
  return value;
}

function checkEdit(edit: unknown, index: number): asserts edit is Edit {
  const given: Readonly<Record<string, unknown>> = typeof edit === "object" && edit !== null ? { ...edit } : {};
  const { op, ...others } = given;
  const invalid = (problem: string): DocumentError =>
    new DocumentError("INVALID_EDIT", `Edit ${index}: ${problem}.`, { index });
  if (typeof op !== "string" || !Object.hasOwn(operations, op)) {
    throw invalid(`expected op to be one of ${Object.keys(operations).join(", ")}`);
  }
  const fields: Readonly<Record<string, Field>> = { ...fieldsOfAll, ...operations[op as Edit["op"]].fields };
  for (const [name, { expected, accepts }] of Object.entries(fields)) {
    if (!accepts(others[name])) throw invalid(`${op} expected ${name} to be ${expected}`);
  }
  const unknown = Object.keys(others).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) throw invalid(`${op} has no ${JSON.stringify(unknown.slice(0, 40))}`);
}
