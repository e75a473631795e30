import { ConfigError } from "../config.ts";
import type { MicrodataItem, MicrodataValue } from "../html/microdata.ts";
import { expectedLocation, filePath } from "../local-files/file-path.ts";
import { accepts, type OptionsSchema, type Schema, shown } from "../options/schema.ts";
import { isBucketUrl } from "../storage/s3/bucket-url.ts";

export interface ConfigPage {
  readonly directory: string;
  readonly problems: Problems;
}

/** Collects what is wrong with a configuration page, so that all of it is reported at once, in the order of lines. */
export class Problems {
  readonly #file: string;
  readonly #all: { readonly line: number; readonly text: string }[] = [];

  /** `file` is how messages call the page. */
  constructor(file: string) {
    this.#file = file;
  }

  get count(): number {
    return this.#all.length;
  }

  /** `line` is 0 for what is about the whole file. */
  add(line: number, text: string): void {
    this.#all.push({ line, text });
  }

  /** What to throw where one more makes it pointless to go on. */
  with(line: number, text: string): ConfigError {
    this.add(line, text);
    return this.error;
  }

  get error(): ConfigError {
    const inOrder = this.#all.toSorted((a, b) => a.line - b.line);
    const texts = inOrder.map(({ line, text }) => `${this.#file}${line === 0 ? "" : `:${line}`}: ${text}`);
    return new ConfigError([...new Set(texts)]); // an item that several hosts refer to is complained about once
  }
}

/** How the properties of a kind of item become options. */
export interface ItemKind {
  readonly schema: OptionsSchema;
  /** Options that have another name in a page. @default {} */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Options that hold functions and objects, for which no text can stand. @default [] */
  readonly codeOnly?: readonly string[];
  /** Options that are the location of a file or directory. @default [] */
  readonly locations?: readonly string[];
  /** Those of the locations that may be the URL of a bucket as well. @default [] */
  readonly buckets?: readonly string[];
  readonly required?: readonly string[];
  /** Properties that are not options; the caller reads them. @default those of a plugin */
  readonly others?: readonly string[];
  /** How the specification spells them. @default "host_root" */
  readonly spelling?: "hostRoot" | "host_root";
}

const ofPlugins: readonly string[] = ["library", "plugin"];

/** The properties of an item that are options, and those options, as the documentation spells both. */
export function optionProperties({ schema, renamed = {}, codeOnly = [], spelling }: ItemKind): Map<string, string> {
  const options = Object.keys(schema.options).filter((option) => !codeOnly.includes(option));
  const spell = (option: string): string =>
    spelling === "hostRoot" ? option : option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return new Map(options.map((option) => [renamed[option] ?? spell(option), option]));
}

/** The options that an item's properties stand for. What cannot be read is told to `add`. */
export function readOptions(
  item: MicrodataItem,
  kind: ItemKind,
  directory: string,
  add: (line: number, text: string) => void,
): Record<string, unknown> {
  const { options: schemas } = kind.schema;
  const known = optionProperties(kind);
  // In a plugin `authFile` is `authfile` as well.
  const spelled = kind.spelling === "hostRoot" ? optionName : nameInAnyCase;
  const options = new Map([...known].map(([property, option]) => [spelled(property), option]));
  const others = (kind.others ?? ofPlugins).map(optionName);
  const read = new Map<string, unknown>();
  for (const [property, values] of item.properties) {
    const name = optionName(property);
    if (others.includes(name)) continue;
    const [{ line }] = values as readonly [MicrodataValue];
    const option = options.get(spelled(property));
    const schema = option === undefined ? undefined : schemas[option];
    if (option === undefined || !schema) {
      const names = [...(kind.others ?? ofPlugins), ...known.keys()].join(", ");
      add(line, `there is no ${shown(property)}: expected one of ${names}`);
    } else if (read.has(option)) {
      add(line, `${property} occurs a second time, under another spelling: expected it once`);
    } else {
      const base = kind.locations?.includes(option) ? directory : undefined;
      const reading = readValue(schema, values, base, kind.buckets?.includes(option));
      if ("problem" in reading) add(line, `${property} ${reading.problem}`);
      read.set(option, "value" in reading ? reading.value : undefined);
    }
  }
  for (const [property, option] of known) {
    if (!kind.required?.includes(option) || read.has(option)) continue;
    add(item.line, `there is no ${property}: expected ${expectationOf(schemas[option] as Schema, [""])}`);
  }
  return Object.fromEntries([...read].filter(([, value]) => value !== undefined));
}

export function placeOf(item: MicrodataItem, name: string): { line: number; property: string } {
  const [property = name, values] =
    [...item.properties].find(([each]) => nameInAnyCase(each) === nameInAnyCase(name)) ?? [];
  return { line: values?.[0]?.line ?? item.line, property };
}

/** The value, or the rest of a sentence that begins with the property. `directory` is given for locations. */
function readValue(
  schema: Schema,
  values: readonly MicrodataValue[],
  directory: string | undefined,
  mayBeBuckets = false,
): { readonly value: unknown } | { readonly problem: string } {
  const texts = values.flatMap(({ value }) => (typeof value === "string" ? [tidyText(value)] : []));
  if (texts.length < values.length) return { problem: "is an item: expected a value" };
  const value = texts.map(shown).join(", ");
  const pathOf = (text: string): string | undefined =>
    directory === undefined || (mayBeBuckets && isBucketUrl(text)) ? text : filePath(text, directory);
  const paths = texts.map(pathOf);
  if (!paths.every((path) => path !== undefined)) return { problem: `is ${value}: expected ${expectedLocation}` };
  // There may be blanks and commas in paths.
  const areSeveralPaths = directory !== undefined && paths.length > 1 && accepts(schema, paths);
  const read = areSeveralPaths ? { value: paths } : readText(schema, paths);
  if (read) return read;
  const isRepeated = texts.length > 1 && readText(schema, paths.slice(0, 1));
  if (isRepeated) return { problem: `occurs ${texts.length} times: expected it once` };
  return { problem: `is ${value}: expected ${expectationOf(schema, paths)}` };
}

/** `requests_per_second` and `requestsPerSecond` are one option: the specification has the first, code the second. */
export function optionName(property: string): string {
  return property.replace(/[_-]+([a-z0-9])/g, (_separator, letter: string) => letter.toUpperCase());
}

export function nameInAnyCase(property: string): string {
  return optionName(property).toLowerCase();
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
