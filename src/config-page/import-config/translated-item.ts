import { stat } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { type MicrodataItem, type MicrodataValue, withElementOf } from "../../html/microdata.ts";
import { filePath } from "../../local-files/file-path.ts";
import { optionName, tidyText } from "../text-options.ts";
import type { OldProperty } from "./old-names.ts";

/** What a page of rusty-beam says otherwise than a page of ours, and where. */
export interface Difference {
  readonly line: number;
  readonly text: string;
  /** The item that it is about, in our words. */
  readonly item: MicrodataItem;
}

/** Locations, which start at the working directory in rusty-beam; in lower case. */
const locations = ["serverroot", "hostroot", "authfile", "file", "root"];

/** An item that is being put into our words. */
export class TranslatedItem {
  readonly original: MicrodataItem;
  readonly properties: Map<string, readonly MicrodataValue[]>;
  readonly #notes: { readonly line: number; readonly text: string }[] = [];

  constructor(
    original: MicrodataItem,
    properties: Iterable<readonly [string, readonly MicrodataValue[]]> = original.properties,
  ) {
    this.original = original;
    this.properties = new Map(properties);
  }

  note(line: number, text: string): void {
    this.#notes.push({ line, text });
  }

  set(name: string, text: string, line: number = this.original.line): void {
    this.properties.set(name, [{ value: text, line }]);
  }

  /** The items of a property; without any, there is no such property. */
  setItems(name: string, items: readonly MicrodataItem[]): void {
    const values = items.map((value) => ({ value, line: value.line }));
    this.properties.delete(name);
    if (values.length > 0) this.properties.set(name, values);
  }

  /** Takes a property away, in whatever spelling. */
  delete(name: string): void {
    for (const key of [...this.properties.keys()]) if (optionName(key) === name) this.properties.delete(key);
  }

  rename(table: Readonly<Record<string, OldProperty>>): void {
    for (const [name, values] of [...this.properties]) {
      const old = Object.hasOwn(table, optionName(name)) ? table[optionName(name)] : undefined;
      if (!old) continue;
      const line = values[0]?.line ?? this.original.line;
      this.properties.delete(name);
      if (old.now === undefined) this.note(line, `the property ${name} is left out: ${old.because}`);
      else {
        this.properties.set(old.now, values);
        const differs = old.differs === undefined ? "" : `; ${old.differs}`;
        this.note(line, `the property ${name} is called ${old.now} here${differs}`);
      }
    }
  }

  /** A location that leads nowhere from the page, but somewhere from the working directory, is meant from there. */
  async place(directory: string): Promise<void> {
    for (const [name, [first, second]] of [...this.properties]) {
      if (!locations.includes(optionName(name).toLowerCase()) || typeof first?.value !== "string" || second) continue;
      const { line } = first;
      const text = tidyText(first.value);
      const [here, there] = [filePath(text, directory), filePath(text)];
      if (here === undefined || there === undefined || here === there || !(await isThere(there, name))) continue;
      if (await isThere(here, name)) {
        const both = "in rusty-beam it starts at the working directory, where there is one as well";
        this.note(line, `${name} starts at this page; ${both}`);
        continue;
      }
      const path = relative(directory, there);
      this.set(name, path, line);
      const seen = `as it did in rusty-beam; seen from this page it is ${path}`;
      this.note(line, `${name} starts at the working directory, ${seen}`);
    }
  }

  /** The item in our words; what was noted is added to `differences`. */
  finish(type: string, differences: Difference[]): MicrodataItem {
    const { original, properties } = this;
    const item = withElementOf(original, { types: [`/${type}`], line: original.line, properties });
    for (const note of this.#notes) differences.push({ ...note, item });
    return item;
  }
}

/** The values of a property, in whatever spelling. */
export function valuesOf({ properties }: MicrodataItem, name: string): readonly MicrodataValue[] | undefined {
  return [...properties].find(([property]) => optionName(property) === name)?.[1];
}

/** The first value of a property, where it is a text. */
export function textOf(
  item: MicrodataItem,
  name: string,
): { readonly text: string; readonly line: number } | undefined {
  const [first] = valuesOf(item, name) ?? [];
  return typeof first?.value === "string" ? { text: tidyText(first.value), line: first.line } : undefined;
}

async function isThere(path: string, property: string): Promise<boolean> {
  const found = await stat(property === "file" ? dirname(path) : path).catch(() => undefined); // it need not exist
  return found !== undefined;
}
