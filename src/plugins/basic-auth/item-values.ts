import type { MicrodataItem } from "../../html/microdata.ts";
import { type FoundUsers, shown } from "./found-users.ts";

/** Most values of one property. One item is read in one go. */
const maxValues = 1_000;

/** A value without the white space around it. */
export interface ItemText {
  readonly text: string;
  readonly line: number;
}

/** The properties of an item as texts; what is not as it should be is a problem of the file. */
export class ItemValues {
  hasProblems = false;
  readonly line: number;
  readonly #item: MicrodataItem;
  readonly #found: FoundUsers;

  constructor(item: MicrodataItem, known: readonly string[], found: FoundUsers) {
    this.#item = item;
    this.#found = found;
    this.line = item.line;
    for (const [name, [value]] of item.properties) {
      if (!known.includes(name))
        this.problem(
          `there is no property ${shown(name)}: expected one of ${known.join(", ")}`,
          value?.line ?? item.line,
        );
    }
  }

  problem(text: string, line: number): void {
    this.hasProblems = true;
    this.#found.problems.push({ line, text });
  }

  missing(name: string, expected: string): void {
    this.problem(`there is no ${name}: expected ${expected}`, this.line);
  }

  has(name: string): boolean {
    return this.#item.properties.has(name);
  }

  /** All values; those that are empty or no text are problems. */
  all(name: string): ItemText[] {
    const values = this.#item.properties.get(name) ?? [];
    const beyond = values[maxValues];
    if (beyond) this.problem(`there are more than ${maxValues} values of ${name}: expected fewer`, beyond.line);
    return values.slice(0, maxValues).flatMap(({ value, line }) => {
      if (typeof value !== "string") this.problem(`${name} is an item: expected text`, line);
      else if (value.trim() === "") this.problem(`${name} is empty: expected a text, or no such property`, line);
      else return [{ text: value.trim(), line }];
      return [];
    });
  }

  /** The only value; a second one is a problem. */
  one(name: string): ItemText | undefined {
    const [first, second] = this.all(name);
    if (second) this.problem(`there is more than one ${name}: expected one`, second.line);
    return first;
  }

  /** The words of several values, or of one with spaces or commas between them. */
  words(name: string): ItemText[] {
    return this.all(name).flatMap(({ text, line }) => {
      const words = text.split(/[\s,]+/).filter(Boolean);
      if (words.length === 0) this.problem(`${name} is ${shown(text)}: expected at least one word`, line);
      return words.map((word) => ({ text: word, line }));
    });
  }

  /** What one of a few words means. The word is not repeated: it may be a password that is in the wrong place. */
  oneOf<T>({ text, line }: ItemText, name: string, meanings: Readonly<Record<string, T>>): T | undefined {
    if (Object.hasOwn(meanings, text)) return meanings[text];
    this.problem(`the ${name} is unknown: expected one of ${Object.keys(meanings).join(", ")}`, line);
    return undefined;
  }
}
