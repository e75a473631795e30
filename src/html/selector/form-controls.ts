import { isHtmlElement, type SourceElement } from "../document/html-nodes.ts";
import { words } from "../words.ts";
import { asciiKeyword, stepsToRead } from "./attribute-selector.ts";
import type { MatchContext } from "./match-context.ts";
import { countBefore } from "./sorted.ts";
import { parentElement, previousElement } from "./tree-steps.ts";

const inputTypes = words(`button checkbox color date datetime-local email file hidden image month number password radio
  range reset search submit tel text time url week`);

/** What browsers take for the value of a number (HTML Standard, 2.3.4.3). */
const floatingPoint = /^-?(?:\d+|\d*\.\d+)(?:e[+-]?\d+)?$/i;

export function isNamed(element: SourceElement, ...names: readonly string[]): boolean {
  return names.includes(element.name) && isHtmlElement(element);
}

export function isInput(element: SourceElement, ...types: readonly string[]): boolean {
  return isNamed(element, "input") && types.includes(inputType(element));
}

/** The type of an `input`; one that is not known is `"text"`. */
function inputType({ attribs }: SourceElement): string {
  const type = asciiKeyword(attribs["type"]);
  return inputTypes.has(type) ? type : "text";
}

/** Whether an element has an attribute, whatever its value. */
export function has({ attribs }: SourceElement, name: string): boolean {
  return attribs[name] !== undefined;
}

const withoutText = words("hidden range color checkbox radio file submit image reset button");
const withPlaceholder = words("text search url tel email password number");

/** Whether the control can be filled in. */
export function isMutable(element: SourceElement, context: MatchContext): boolean {
  if (isNamed(element, "input") ? withoutText.has(inputType(element)) : !isNamed(element, "textarea")) return false;
  return !has(element, "readonly") && isDisabled(element, context) === false;
}

/** Whether `required` has a meaning for a control: not for those that always have a value, nor for buttons. */
export function isRequirable(element: SourceElement): boolean {
  if (!isNamed(element, "input")) return isNamed(element, "select", "textarea");
  return !withoutText.has(inputType(element)) || isInput(element, "checkbox", "radio", "file");
}

/** Whether an `input` shows its placeholder, since it is empty. */
export function showsPlaceholder(input: SourceElement, { steps }: MatchContext): boolean {
  if (!has(input, "placeholder") || !withPlaceholder.has(inputType(input))) return false;
  const { value = "" } = input.attribs;
  steps.spend(stepsToRead(value));
  if (isInput(input, "number")) return !floatingPoint.test(value);
  const text = value.replace(/[\r\n]/g, "");
  return (isInput(input, "url", "email") ? text.trim() : text) === "";
}

/** Whether an element is actually disabled (HTML Standard, 4.16.3); `undefined` for one that cannot be. */
export function isDisabled(element: SourceElement, context: MatchContext): boolean | undefined {
  if (isNamed(element, "button", "input", "select", "textarea", "fieldset")) {
    return has(element, "disabled") || isInDisabledFieldset(element, context);
  }
  if (!isNamed(element, "option", "optgroup")) return undefined;
  if (isDisabledOption(element)) return true;
  const select = selectOf(element);
  return select !== null && isDisabled(select, context) === true;
}

/** Whether an `option` or its group is disabled by itself, its `select` aside. */
export function isDisabledOption(option: SourceElement): boolean {
  for (let current: SourceElement | null = option; current; current = parentElement(current)) {
    if (isNamed(current, "option", "optgroup") && has(current, "disabled")) return true;
    if (isNamed(current, "select", "datalist")) break;
  }
  return false;
}

export function selectOf(option: SourceElement): SourceElement | null {
  let ancestor = parentElement(option);
  while (ancestor && !isNamed(ancestor, "select")) {
    if (isNamed(ancestor, "option", "datalist")) return null;
    ancestor = parentElement(ancestor);
  }
  return ancestor;
}

/** Everything in a disabled `fieldset` is disabled, but for what stands in its first `legend`. */
function isInDisabledFieldset(element: SourceElement, context: MatchContext): boolean {
  let child = element;
  for (let ancestor = parentElement(element); ancestor; ancestor = parentElement(ancestor)) {
    context.steps.spend();
    if (isNamed(ancestor, "fieldset") && has(ancestor, "disabled") && !isFirstLegend(child, context)) return true;
    child = ancestor;
  }
  return false;
}

function isFirstLegend(element: SourceElement, { steps }: MatchContext): boolean {
  if (!isNamed(element, "legend")) return false;
  let sibling = previousElement(element, steps);
  while (sibling && !isNamed(sibling, "legend")) sibling = previousElement(sibling, steps);
  return sibling === null;
}

const formEndTag = /<\/form(?=[\s/>])/gi;

/** Finds the form that a control belongs to. */
export class FormOwners {
  readonly #context: MatchContext;
  readonly #byId = new Map<string, SourceElement>();
  /** Forms that have a place in the source, in its order, and where their end tags are. */
  readonly #open: { form: SourceElement; start: number; end: number }[] = [];

  /** `forms` are those of the document, in its order. */
  constructor(forms: readonly SourceElement[], context: MatchContext) {
    this.#context = context;
    for (const form of forms) {
      const id = form.attribs["id"];
      if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, form);
      if (form.startIndex === null) continue;
      formEndTag.lastIndex = form.contentStart;
      const end = formEndTag.exec(context.source)?.index ?? context.source.length;
      this.#open.push({ form, start: form.startIndex, end });
    }
    this.#open.sort((a, b) => a.start - b.start);
  }

  /**
   * The form that the `form` attribute names; or the one whose tags are around the control in the source, which in a
   * broken table need not be an ancestor (HTML Standard, 4.10.17.3); or the nearest ancestor.
   */
  formOf(control: SourceElement): SourceElement | null {
    const id = control.attribs["form"];
    if (id !== undefined) return this.#byId.get(id) ?? null;
    return this.#formAround(control) ?? this.#ancestorForm(control);
  }

  #formAround({ startIndex }: SourceElement): SourceElement | undefined {
    if (startIndex === null || this.#context.kind === "xml") return undefined;
    const last = this.#open[countBefore(this.#open, ({ start }) => start < startIndex) - 1];
    return last && startIndex < last.end ? last.form : undefined;
  }

  #ancestorForm(control: SourceElement): SourceElement | null {
    let ancestor = parentElement(control);
    while (ancestor && !isNamed(ancestor, "form")) {
      this.#context.steps.spend();
      ancestor = parentElement(ancestor);
    }
    return ancestor;
  }
}
