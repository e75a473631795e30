/** What a value has to be, in words that end the sentence "x is 3: expected ...". */
export interface Schema {
  problemsOf(value: unknown): readonly Problem[];
}

export interface Problem {
  readonly path: readonly (string | number)[];
  /** `"type"`: no such value could fit; `"name"`: of an entry whose value is not told; `"option"`: unknown. */
  readonly kind: "type" | "value" | "name" | "option";
  /** What would have fitted; for `"option"`, the unknown names, and what they were probably meant to be. */
  readonly expected: string;
}

export interface OptionsSchema extends Schema {
  readonly options: Readonly<Record<string, Schema>>;
}

/** A rule about values of the right type: what it expects instead of one, at a path into it if need be. */
type Rule<T> = (value: T) => string | Pick<Problem, "path" | "expected"> | undefined;

export function valueThat(fits: (value: unknown) => boolean, expected: string): Schema {
  return { problemsOf: (value) => (fits(value) ? [] : [problem("value", expected)]) };
}

/** Makes schemas of a type and what must hold of a value; `type` is expected in place of what is of another type. */
type TypedSchema<T> = (type: string, fits?: (value: T) => boolean, expected?: string) => Schema;

export const text: TypedSchema<string> = typed(isString);
export const number: TypedSchema<number> = typed(Number.isFinite);
/** A number without fraction that is exact. */
export const integer: TypedSchema<number> = typed(Number.isSafeInteger);

export const yesOrNo: Schema = ofType((value) => typeof value === "boolean", "true or false");

export function oneOf(values: readonly string[], expected: string = `"${values.join('" or "')}"`): Schema {
  return valueThat((value) => isString(value) && values.includes(value), expected);
}

export function anyOf(schemas: readonly Schema[], expected: string): Schema {
  return valueThat((value) => schemas.some((schema) => accepts(schema, value)), expected);
}

/** A list, which may be empty unless `atLeastOne` says what is expected then. */
export function listOf(item: Schema, expected: string, atLeastOne?: string): Schema {
  return {
    problemsOf(value) {
      if (!Array.isArray(value)) return [problem("type", expected)];
      if (value.length === 0 && atLeastOne !== undefined) return [problem("value", atLeastOne)];
      return [...value].flatMap((each: unknown, index) => within(index, item.problemsOf(each)));
    },
  };
}

/** An object whose names the caller chooses. Each value fits a schema, and each name too if one is given. */
export function recordOf(entry: Schema, expected: string, names?: Schema): Schema {
  return {
    problemsOf(value) {
      if (!isPlainObject(value)) return [problem("type", expected)];
      return Object.keys(value).flatMap((name) => {
        const [wrongName] = names?.problemsOf(name) ?? [];
        const problems = wrongName ? [problem("name", wrongName.expected)] : entry.problemsOf(Reflect.get(value, name));
        return within(name, problems);
      });
    },
  };
}

/** An object with these options and no others; `remarks` are about names that other programs have. */
export function optionsOf(
  options: Readonly<Record<string, Schema>>,
  expected: string,
  required: readonly string[] = [],
  remarks: ReadonlyMap<string, string> = new Map(),
): OptionsSchema {
  return {
    options,
    problemsOf(value) {
      if (!isObject(value)) return [problem("type", expected)];
      const withSuggestion = (name: string): string => {
        const meant = likeliest(name, Object.keys(options));
        const remark = remarks.get(name) ?? (meant === undefined ? undefined : `did you mean "${meant}"?`);
        return remark === undefined ? `"${name}"` : `"${name}" (${remark})`;
      };
      const unknown = Object.keys(value).filter((name) => !Object.hasOwn(options, name));
      const problems = Object.entries(options).flatMap(([name, schema]) => {
        const each: unknown = Reflect.get(value, name);
        return each === undefined && !required.includes(name) ? [] : within(name, schema.problemsOf(each));
      });
      if (unknown.length > 0) problems.push(problem("option", unknown.map(withSuggestion).join(", ")));
      return problems;
    },
  };
}

/** A schema with a rule that is asked where nothing else is wrong. The caller knows the type of values that fit. */
export function withRule<S extends Schema, T>(schema: S, rule: Rule<T>): S {
  return {
    ...schema,
    problemsOf(value) {
      const problems = schema.problemsOf(value);
      const broken = problems.length === 0 ? rule(value as T) : undefined;
      if (broken === undefined) return problems;
      return [typeof broken === "string" ? problem("value", broken) : { ...broken, kind: "value" }];
    },
  };
}

/** A schema whose problems are told without the value, which holds secrets. */
export function secret(schema: Schema): Schema {
  const quiet = (each: Problem): Problem => (each.kind === "option" ? each : { ...each, kind: "name" });
  return { problemsOf: (value) => schema.problemsOf(value).map(quiet) };
}

export function accepts(schema: Schema, value: unknown): boolean {
  return schema.problemsOf(value).length === 0;
}

function typed<T>(is: (value: unknown) => boolean): TypedSchema<T> {
  return (type, fits = () => true, expected = type) =>
    withRule(ofType(is, type), (value: T) => (fits(value) ? undefined : expected));
}

function ofType(is: (value: unknown) => boolean, expected: string): Schema {
  return { problemsOf: (value) => (is(value) ? [] : [problem("type", expected)]) };
}

function problem(kind: Problem["kind"], expected: string): Problem {
  return { path: [], kind, expected };
}

function within(key: string | number, problems: readonly Problem[]): Problem[] {
  return problems.map((each) => ({ ...each, path: [key, ...each.path] }));
}

/** The known name that a wrong one was meant to be: one with the same letters, or else with one wrong. */
export function likeliest(name: string, known: readonly string[]): string | undefined {
  const letters = (text: string): string => text.toLowerCase().replace(/[-_]/g, "");
  const written = letters(name);
  if (written.length < 3 || written.length > 40) return undefined;
  return known.find((each) => letters(each) === written) ?? known.find((each) => isNear(letters(each), written));
}

/** Whether two texts are the same without one letter, or without one letter each. */
function isNear(one: string, other: string): boolean {
  const shortest = Math.min(one.length, other.length);
  let [start, end] = [0, 0];
  while (start < shortest && one[start] === other[start]) start += 1;
  while (start + end < shortest && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [first, second] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
  if (first.length !== second.length) return first.length + second.length === 1;
  return first.length < 2 || first.slice(1) === second.slice(0, -1) || first.slice(0, -1) === second.slice(1);
}

/** A text for a message. */
export function shown(text: string): string {
  const longest = 80;
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest)}...` : text);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** No map, date or the like, whose content is not in its properties. */
function isPlainObject(value: unknown): value is object {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.hasOwn(prototype as object, "isPrototypeOf"); // that of any realm
}
