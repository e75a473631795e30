import { domainToASCII } from "node:url";
import type { SourceElement } from "../document/html-nodes.ts";
import { stepsToRead } from "./attribute-selector.ts";
import { has, inputType, isDisabled, isInput, isNamed } from "./form-controls.ts";
import { displaySize, formState, isOn, isSelected, optionsOf, textOf } from "./form-state.ts";
import type { MatchContext } from "./match-context.ts";
import { parentElement } from "./tree-steps.ts";

const dayMs = 86_400_000;
// HTML Standard, 4.10.5.1.5: what `type=email` takes.
const email =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;
const floatingPoint = /^-?(?:\d+|\d*\.\d+)(?:e[+-]?\d+)?$/i;
/** Steps that one address counts for, however short: a library of domain names judges it. */
const stepsOfEmail = 32;
/** Four times what a domain name can have. */
const maxHostLength = 1024;
const authority = /^\s*[a-z][a-z0-9+.-]*:[\\/]*[^\\/?#]*/i;
const date = /^(\d{4,})-(\d\d)-(\d\d)$/;

/** How a type of `input` reads its value as a number, and what its steps are. */
interface NumberRules {
  read(value: string): number;
  readonly step: number;
  /** What a step of 1 is in the unit of the numbers. */
  readonly scale: number;
  readonly base: number;
}

const numberRules: Readonly<Record<string, NumberRules>> = {
  number: { read: readNumber, step: 1, scale: 1, base: 0 },
  range: { read: readNumber, step: 1, scale: 1, base: 0 },
  date: { read: readDate, step: 1, scale: dayMs, base: 0 },
  month: { read: readMonth, step: 1, scale: 1, base: 0 },
  week: { read: readWeek, step: 1, scale: 7 * dayMs, base: -3 * dayMs },
  time: { read: readTime, step: 60, scale: 1000, base: 0 },
  "datetime-local": { read: readDateTime, step: 60, scale: 1000, base: 0 },
};

/** Inputs to which `required` applies; a `range` or a `color` always has a value. */
const requirable: ReadonlySet<string> = new Set(
  "text search url tel email password date month week time datetime-local number checkbox radio file".split(" "),
);
const withoutText: ReadonlySet<string> = new Set(
  "hidden range color checkbox radio file submit image reset button".split(" "),
);
const withPlaceholder: ReadonlySet<string> = new Set("text search url tel email password number".split(" "));

/**
 * Whether what the page has put into a control meets its constraints; `undefined` for a control that has none. A
 * `pattern` counts as met: it is the page's own program, and could run for ever.
 */
export function isValid(element: SourceElement, context: MatchContext): boolean | undefined {
  if (!isCandidate(element, context)) return undefined;
  if (isNamed(element, "textarea")) return !(has(element, "required") && textOf(element, context) === "");
  if (isNamed(element, "select")) return !(has(element, "required") && isUnselected(element, context));
  if (!isNamed(element, "input")) return true;
  if (isMissing(element, context)) return false;
  const value = inputValue(element, context);
  if (value === "") return true;
  return (
    isOfType(element, value, context) && rangeOf(element, context) !== "outside" && isOnStep(element, value, context)
  );
}

/** Where the value of a control lies between `min` and `max`; `undefined` for one that has no such bounds. */
export function rangeState(element: SourceElement, context: MatchContext): "inside" | "outside" | undefined {
  return isNamed(element, "input") && isCandidate(element, context) ? rangeOf(element, context) : undefined;
}

/** Whether the control can be filled in. */
export function isMutable(element: SourceElement, context: MatchContext): boolean {
  if (isNamed(element, "input") ? withoutText.has(inputType(element)) : !isNamed(element, "textarea")) return false;
  return !has(element, "readonly") && isDisabled(element, context) === false;
}

/** Whether `required` has a meaning for a control. */
export function isRequirable(element: SourceElement): boolean {
  return isNamed(element, "input") ? requirable.has(inputType(element)) : isNamed(element, "select", "textarea");
}

/** Whether a control shows its placeholder, since it is empty. */
export function showsPlaceholder(element: SourceElement, context: MatchContext): boolean {
  if (!has(element, "placeholder")) return false;
  if (isNamed(element, "textarea")) return textOf(element, context) === "";
  return isNamed(element, "input") && withPlaceholder.has(inputType(element)) && inputValue(element, context) === "";
}

/** The value of an `input` after the sanitization of its type, where that can make it empty. */
export function inputValue(input: SourceElement, context: MatchContext): string {
  const type = inputType(input);
  const value = textIn(input, "value", context).replace(/[\r\n]/g, "");
  if (type === "file") return "";
  if (type === "url" || type === "email") return value.trim();
  const rules = numberRules[type];
  return rules && Number.isNaN(rules.read(value)) ? "" : value;
}

/** The value of an attribute that is about to be read character by character. */
function textIn({ attribs }: SourceElement, name: string, { steps }: MatchContext): string {
  const { [name]: text = "" } = attribs;
  steps.spend(stepsToRead(text));
  return text;
}

/** Whether constraints are looked at (HTML Standard, 4.10.21.1). */
function isCandidate(element: SourceElement, context: MatchContext): boolean {
  if (!isNamed(element, "textarea", "select", "button", "input")) return false;
  if (isDisabled(element, context) !== false || isInDatalist(element)) return false;
  if (isNamed(element, "button")) return !/^(?:button|reset)$/i.test(element.attribs["type"] ?? "");
  if (isInput(element, "hidden", "button", "reset", "image")) return false;
  return isNamed(element, "select") || !has(element, "readonly");
}

function isInDatalist(element: SourceElement): boolean {
  for (let ancestor = parentElement(element); ancestor; ancestor = parentElement(ancestor)) {
    if (isNamed(ancestor, "datalist")) return true;
  }
  return false;
}

function isMissing(input: SourceElement, context: MatchContext): boolean {
  if (isInput(input, "radio")) {
    const group = formState(context).radios.get(input);
    return group?.isRequired === true && group.checked === undefined;
  }
  if (!has(input, "required") || !isRequirable(input)) return false;
  return isInput(input, "checkbox") ? !isOn(input, context) : inputValue(input, context) === "";
}

function isUnselected(select: SourceElement, context: MatchContext): boolean {
  const options = optionsOf(select, context);
  const [first] = options;
  context.steps.spend(options.length << 3);
  const selected = options.filter((option) => isSelected(option, context));
  const hasLabel = first && !has(select, "multiple") && displaySize(select) === 1 && parentElement(first) === select;
  const isLabel = (option: SourceElement): boolean =>
    hasLabel === true && option === first && (option.attribs["value"] ?? textOf(option, context).trim()) === "";
  return selected.every(isLabel);
}

function isOfType(input: SourceElement, value: string, context: MatchContext): boolean {
  switch (inputType(input)) {
    case "url":
      return isHostShort(authority.exec(value)?.[0] ?? "", context) && URL.canParse(value);
    case "email":
      return has(input, "multiple")
        ? value.split(",").every((part) => isEmail(part.trim(), context))
        : isEmail(value, context);
    default:
      return true;
  }
}

function isEmail(text: string, context: MatchContext): boolean {
  context.steps.spend(stepsOfEmail); // There may be a million of them in one value.
  const at = text.lastIndexOf("@");
  if (!isHostShort(text.slice(at + 1), context)) return false;
  return email.test(`${text.slice(0, at)}@${domainToASCII(text.slice(at + 1))}`);
}

/** Letters beyond ASCII take time that grows with the square of their number: 30 s for a million of them. */
function isHostShort({ length }: string, { steps }: MatchContext): boolean {
  if (length > maxHostLength) return false;
  steps.spend((length * length) >> 3);
  return true;
}

function rangeOf(input: SourceElement, context: MatchContext): "inside" | "outside" | undefined {
  const type = inputType(input);
  const rules = numberRules[type];
  if (!rules) return undefined;
  const value = rules.read(inputValue(input, context));
  // A `range` moves its value in between.
  if (Number.isNaN(value) || type === "range") return "inside";
  const min = rules.read(textIn(input, "min", context));
  const max = rules.read(textIn(input, "max", context));
  if (Number.isNaN(min) && Number.isNaN(max)) return undefined;
  // From 22:00 to 02:00: over midnight.
  const isOutside = type === "time" && max < min ? value > max && value < min : value < min || value > max;
  return isOutside ? "outside" : "inside";
}

function isOnStep(input: SourceElement, value: string, context: MatchContext): boolean {
  const rules = numberRules[inputType(input)];
  const written = textIn(input, "step", context);
  if (!rules || /^any$/i.test(written) || inputType(input) === "range") return true;
  const stated = readNumber(written);
  const step = (stated > 0 ? stated : rules.step) * rules.scale;
  const base = ["min", "value"]
    .map((name) => rules.read(textIn(input, name, context)))
    .find((number) => !Number.isNaN(number));
  const steps = (rules.read(value) - (base ?? rules.base)) / step;
  return Math.abs(steps - Math.round(steps)) <= 1e-9 * Math.max(1, Math.abs(steps));
}

function readNumber(text: string): number {
  return floatingPoint.test(text) ? Number(text) : Number.NaN;
}

function readDate(text: string): number {
  const [, year, month, day] = (date.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined || year === 0) return Number.NaN;
  const time = Date.UTC(year, month - 1, day);
  const isReal = new Date(time).getUTCMonth() === month - 1 && day > 0;
  return isReal ? time : Number.NaN;
}

function readMonth(text: string): number {
  const time = readDate(`${text}-01`);
  const made = new Date(time);
  return Number.isNaN(time) ? time : (made.getUTCFullYear() - 1970) * 12 + made.getUTCMonth();
}

function readWeek(text: string): number {
  const [, year, week] = (/^(\d{4,})-W(\d\d)$/.exec(text) ?? []).map(Number);
  if (year === undefined || week === undefined || week < 1 || week > 53) return Number.NaN;
  const fourth = Date.UTC(year, 0, 4);
  const firstMonday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * dayMs;
  const monday = firstMonday + (week - 1) * 7 * dayMs;
  return new Date(monday + 3 * dayMs).getUTCFullYear() === year ? monday : Number.NaN;
}

function readTime(text: string): number {
  const [, hour, minute, second = 0] = (/^(\d\d):(\d\d)(?::(\d\d(?:\.\d{1,3})?))?$/.exec(text) ?? []).map((part) =>
    part === undefined ? undefined : Number(part),
  );
  if (hour === undefined || minute === undefined || hour > 23 || minute > 59 || second >= 60) return Number.NaN;
  return (hour * 60 + minute) * 60_000 + second * 1000;
}

function readDateTime(text: string): number {
  const [day = "", time = ""] = text.split(/[T ]/);
  return readDate(day) + readTime(time);
}
