import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { elementSpan, hasEndTag, isTagOnly } from "../document/element-span.ts";
import { isHtmlElement, SourceElement, type TreeParent } from "../document/html-nodes.ts";
import { replaced } from "../document/serialise.ts";
import type { SourceDocument } from "../document/source-document.ts";
import { textContents } from "../document/tag-rules.ts";
import { DocumentError, invalidHtml } from "../document-error.ts";
import type { ContentModel } from "../tokenizer/tokens.ts";
import { attributeChanges } from "./attribute-placement.ts";
import { withClasses, withoutClasses } from "./class-tokens.ts";
import type { Edit, EditBase, EditOf, InsertPosition } from "./edits.ts";
import { fillElements, insertMarkup, removeElements, replaceElements } from "./element-placement.ts";
import { type CheckReplacement, outermost, type Place, parentAt } from "./placement.ts";

export type Effect = "reads" | "changes" | "grows" | "removes";

export interface Affected {
  readonly effect: Effect;
  readonly elements: Elements;
}

export interface Subject {
  readonly document: SourceDocument;
  readonly matches: Elements;
  /** What the selector `to` selects. */
  readonly to: Elements;
}

/** The changes that an edit is, each of what the one before has left of the elements. */
export interface Plan {
  readonly elements: Elements;
  readonly changes: readonly Place[];
}

/** What operations take from those who have them made. */
export interface PlanRules {
  /** The outer HTML of elements, as a GET tells it. */
  outerHtml(document: SourceDocument, elements: Elements): SlicedWork<string>;
  readonly checkReplacement?: CheckReplacement;
}

type Elements = readonly SourceElement[];

/** Whether a field is what it has to be, and what that is. */
interface Field {
  readonly expected: string;
  accepts(value: unknown): boolean;
}

interface Operation<Op extends Edit["op"]> {
  /** The fields that it has besides those of all edits. */
  readonly fields: Readonly<Record<Exclude<keyof EditOf<Op>, keyof EditBase | "op">, Field>>;
  /** What it does to which elements; by default it changes those that match. `to`: what the selector `to` selects. */
  affects?(edit: EditOf<Op>, matches: Elements, to: Elements): readonly Affected[];
  /** Plans the edit, of one element or more. */
  plan(edit: EditOf<Op>, subject: Subject, rules: PlanRules): Plan;
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

const operations: { readonly [Op in Edit["op"]]: Operation<Op> } = {
  replace: {
    fields: { html: text },
    plan({ html }, { matches }, { checkReplacement = () => {} }) {
      if (html.trim() === "") throw invalidHtml("it is empty; elements are removed by another edit", 1, 1);
      return single(matches, (tree, elements) => replaceElements(tree, elements, html, checkReplacement));
    },
  },
  insert: {
    fields: { position, html: text },
    affects: (edit, matches) => [growing(matches, edit.position)],
    plan: ({ html, position }, { matches }) =>
      single(matches, (tree, elements) => insertMarkup(tree, elements, html, position)),
  },
  remove: {
    fields: {},
    affects: (_edit, elements) => [{ effect: "removes", elements }],
    plan: (_edit, { matches }) => single(matches, removeElements),
  },
  move: {
    fields: { to: selector, position },
    affects: (edit, elements, to) => [{ effect: "removes", elements }, growing(to, edit.position)],
    plan: move,
  },
  setContent: {
    fields: { html: text },
    plan: ({ html }, { matches }) => single(matches, (tree, elements) => fillElements(tree, elements, () => html)),
  },
  setText: {
    fields: { text },
    plan({ text }, { document, matches }) {
      return single(matches, function* (tree, elements) {
        const escaped = yield* replaced(text, /[&<>\r]/g, (character) => references[character] ?? "");
        return yield* fillElements(tree, elements, (element) => {
          const content = textContentOf(document, element);
          return content === undefined || content === "rcdata" ? escaped : text; // there are no references in a script
        });
      });
    },
  },
  setAttribute: {
    fields: { name: text, value: text },
    plan: ({ name, value }, { matches }) => changeOfAttribute(matches, name, () => value),
  },
  removeAttribute: {
    fields: { name: text },
    plan: ({ name }, { matches }) => changeOfAttribute(matches, name, () => undefined),
  },
  addClass: {
    fields: { class: classes },
    plan: (edit, { matches }) => changeOfClasses(matches, (value) => withClasses(value, edit.class)),
  },
  removeClass: {
    fields: { class: classes },
    plan: (edit, { matches }) => changeOfClasses(matches, (value) => withoutClasses(value, edit.class)),
  },
  test: {
    fields: {},
    affects: (_edit, elements) => [{ effect: "reads", elements }],
    plan: () => ({ elements: [], changes: [] }),
  },
};

function single(elements: Elements, change: Place): Plan {
  return { elements, changes: [change] };
}

export function operationOf({ op }: Edit): Operation<Edit["op"]> {
  return operations[op] as unknown as Operation<Edit["op"]>; // it gets edits of its own `op` only
}

/** The elements whose content grows where something is added at a position. */
function growing(elements: Elements, position: InsertPosition): Affected {
  const parents = elements.map((element) => parentAt({ element, position }));
  return { effect: "grows", elements: [...new Set(parents)].filter((each) => each instanceof SourceElement) };
}

function move(
  { position }: EditOf<"move">,
  { document, matches, to: [to, ...others] }: Subject,
  { outerHtml }: PlanRules,
): Plan {
  if (!to || others.length > 0) throw new DocumentError("INVALID_TARGET", "`to` has to select just one element.");
  const moved = outermost(matches);
  for (let each: TreeParent | null = to; each; each = each.parent) {
    if (!moved.some((element) => element === each)) continue;
    throw new DocumentError("INVALID_TARGET", "An element cannot be moved to itself, or into itself.");
  }
  const parent = parentAt({ element: to, position });
  if (parent instanceof SourceElement && textContentOf(document, parent)) {
    throw new DocumentError("INVALID_TARGET", `A ${parent.name} holds text, so no element can be moved into it.`);
  }
  let html: string | undefined;
  function* read(): SlicedWork<string> {
    const parts: string[] = [];
    for (const element of moved) {
      const bytes = yield* outerHtml(document, [element]);
      parts.push(element === moved.at(-1) ? bytes : closed(element, bytes, document.source));
    }
    return parts.join("");
  }
  return {
    elements: [...moved, to],
    changes: [
      function* (tree, elements) {
        html ??= yield* read(); // before the tree becomes part of another one
        return yield* removeElements(tree, elements.slice(0, -1));
      },
      (tree, elements) => insertMarkup(tree, elements, html ?? "", position),
    ],
  };
}

/** How the text of an element that holds nothing else is read; `undefined` for one that holds elements. */
function textContentOf({ kind }: SourceDocument, element: SourceElement): ContentModel | undefined {
  return kind === "html" && isHtmlElement(element) ? textContents[element.name] : undefined;
}

/** The bytes of an element, with a missing end tag added: the element put behind it would become part of it. */
function closed(element: SourceElement, html: string, source: string): string {
  const { start, end } = elementSpan(element) ?? { start: 0, end: 0 };
  const isOpen = !hasEndTag(element) && !isTagOnly(element) && html === source.slice(start, end);
  return isOpen ? `${html}</${element.name}>` : html;
}

function changeOfAttribute(
  matches: Elements,
  name: string,
  valueFor: (element: SourceElement) => string | undefined,
): Plan {
  return single(matches, (tree, elements, maxLength) =>
    attributeChanges(tree, elements, { name, valueFor, maxLength }),
  );
}

function changeOfClasses(matches: Elements, change: (value: string) => string): Plan {
  return changeOfAttribute(matches, "class", ({ attribs }) => {
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

const defaultMaxEdits = 1000;

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
