import { ConfigError } from "../config.ts";
import type { MicrodataItem, MicrodataValue } from "../html/microdata.ts";
import { expectedLocation, filePath } from "../local-files/file-path.ts";
import { accepts, type OptionsSchema, type Schema } from "../options/schema.ts";
import { isBucketUrl } from "../storage/s3/bucket-url.ts";
import { type Problems, shown } from "./problems.ts";

export interface ConfigPage {
  readonly directory: string;
  readonly problems: Problems;
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
  const spell = (option: string): string => option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return new Map(
    options.map((option) => [renamed[option] ?? (spelling === "hostRoot" ? option : spell(option)), option]),
  );
}

/** The options that an item's properties stand for. What cannot be read is added to the problems of the page. */
export function readOptions(item: MicrodataItem, kind: ItemKind, page: ConfigPage): Record<string, unknown> {
  const { options: schemas } = kind.schema;
  const known = optionProperties(kind);
  // In a plugin `authFile` is `authfile` as well.
  const spelled = (property: string): string =>
    kind.spelling === "hostRoot" ? optionName(property) : optionName(property).toLowerCase();
  const options = new Map([...known].map(([property, option]) => [spelled(property), option]));
  const others = (kind.others ?? ofPlugins).map(optionName);
  const read = new Map<string, unknown>();
  for (const [property, values] of item.properties) {
    const name = optionName(property);
    if (others.includes(name)) continue;
    const [{ line }] = values as readonly [MicrodataValue];
    const option = options.get(spelled(property));
    const schema = option === undefined ? undefined : schemas[option];
    if (kind.codeOnly?.includes(name)) {
      page.problems.add(line, `${property} holds what only code can give: expected no such property in a page`);
    } else if (option === undefined || !schema) {
      const names = [...(kind.others ?? ofPlugins), ...known.keys()].join(", ");
      page.problems.add(line, `there is no ${shown(property)}: expected one of ${names}`);
    } else if (read.has(option)) {
      page.problems.add(line, `${property} occurs a second time, under another spelling: expected it once`);
    } else {
      const directory = kind.locations?.includes(option) ? page.directory : undefined;
      const reading = readValue(schema, values, directory, kind.buckets?.includes(option));
      if ("problem" in reading) page.problems.add(line, `${property} ${reading.problem}`);
      read.set(option, "value" in reading ? reading.value : undefined);
    }
  }
  for (const [property, option] of known) {
    if (!kind.required?.includes(option) || read.has(option)) continue;
    const expected = expectationOf(schemas[option] as Schema, [""]);
    page.problems.add(item.line, `there is no ${property}: expected ${expected}`);
  }
  return Object.fromEntries([...read].filter(([, value]) => value !== undefined));
}

export function placeOf(item: MicrodataItem, name: string): { line: number; property: string } {
  const [property = name, values] =
    [...item.properties].find(([each]) => optionName(each).toLowerCase() === optionName(name).toLowerCase()) ?? [];
  return { line: values?.[0]?.line ?? item.line, property };
}

/** Runs a function with the options of an item. The problems of a `ConfigError` become problems of the page. */
export function attempt<T>(
  { item, kind, problems, name = "" }: { item: MicrodataItem; kind: ItemKind; problems: Problems; name?: string },
  use: () => T,
): T | undefined {
  try {
    return use();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const beginning = new RegExp(`^${optionName(name)}(?:: | |\\.)`); // "accessLog: file is ..."
    for (const problem of error.problems) {
      const text = problem.replace(beginning, "");
      // It begins with an option; a page may spell that otherwise, and there it has a line.
      const [option = ""] = /^\w*/.exec(text) ?? [];
      const isOption = Object.hasOwn(kind.schema.options, option);
      const own = { line: item.line, property: option };
      const { line, property } = isOption ? placeOf(item, kind.renamed?.[option] ?? option) : own;
      problems.add(line, property + text.slice(option.length));
    }
    return undefined;
  }
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
  const isText = (text: string | undefined): text is string => text !== undefined;
  if (!paths.every(isText)) return { problem: `is ${value}: expected ${expectedLocation}` };
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
