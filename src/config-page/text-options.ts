import { accepts, type Schema } from "../options/schema.ts";

/** `requests_per_second` and `requestsPerSecond` are one option: the specification has the first, code the second. */
export function optionName(property: string): string {
  return property.replace(/[_-]+([a-z0-9])/g, (_separator, letter: string) => letter.toUpperCase());
}

/** The other spelling: `requests_per_second` for `requestsPerSecond`. */
export function parameterName(option: string): string {
  return option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A value as its author sees it in a browser: without white space around it, on one line. */
export function tidyText(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, " ");
}

/** The first reading of the texts that the schema takes: a number, true or false, text, a list, or pairs. */
export function readText(schema: Schema, texts: readonly string[]): { readonly value: unknown } | undefined {
  const value = readingsOf(texts).find((reading) => accepts(schema, reading));
  return value === undefined ? undefined : { value };
}

/** What the schema would have taken, in its own words. */
export function expectationOf(schema: Schema, texts: readonly string[]): string {
  // The words for an object in code would not help: a page has pairs.
  if (accepts(schema, {})) return 'a name and a value with a blank between them, such as ".md text/markdown"';
  const problems = readingsOf(texts).flatMap((reading) => schema.problemsOf(reading).slice(0, 1));
  // A reading of another type than the schema's says least.
  const telling = problems.find(({ kind, path }) => kind !== "type" || path.length > 0) ?? problems[0];
  return telling?.expected ?? "another value";
}

function readingsOf(texts: readonly string[]): readonly unknown[] {
  const [text = "", ...more] = texts;
  const one = more.length > 0 ? [] : [...numbers([text]).flat(), ...truths(text), text];
  const words = texts.flatMap((each) => each.split(/[\s,]+/));
  return [...one, ...numbers(words), words, ...pairs(texts)];
}

function numbers(texts: readonly string[]): readonly number[][] {
  const areNumbers = texts.every((text) => /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text));
  return areNumbers ? [texts.map(Number)] : [];
}

function truths(text: string): readonly boolean[] {
  return text === "true" || text === "false" ? [text === "true"] : [];
}

function pairs(texts: readonly string[]): readonly object[] {
  const entries = texts.map((text) => /^(\S+)\s+(.+)$/.exec(text)?.slice(1) ?? []);
  const names = new Set(entries.map(([name]) => name));
  const areDistinct = names.size === entries.length && !names.has(undefined);
  if (!areDistinct) return [];
  const readings = entries.map(([name, value = ""]) => [name, truths(value)[0] ?? value]);
  return [Object.fromEntries(entries), Object.fromEntries(readings)];
}
