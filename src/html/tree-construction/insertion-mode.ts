import { type Doctype, type Tag, tagCount } from "../tokenizer/tokens.ts";
import { tagNamed } from "./tags.ts";
import type { TextRun } from "./text-run.ts";
import type { TreeBuilder } from "./tree-builder.ts";

/** The insertion modes (HTML Standard, 13.2.4.1). There is no "in select" any more, and with scripting no "in head noscript". */
export type ModeName =
  | "initial"
  | "before html"
  | "before head"
  | "in head"
  | "after head"
  | "in body"
  | "text"
  | "in table"
  | "in caption"
  | "in column group"
  | "in table body"
  | "in row"
  | "in cell"
  | "in template"
  | "after body"
  | "in frameset"
  | "after frameset"
  | "after after body"
  | "after after frameset";

export type TagRule = (builder: TreeBuilder, tag: Tag) => void;

/** What happens to each token in a mode. */
export interface InsertionMode {
  /** Rules for start tags and end tags, by the ids of their names. */
  readonly startTags: readonly TagRule[];
  readonly endTags: readonly TagRule[];
  text(builder: TreeBuilder, run: TextRun): void;
  /** Whether text is looked at piece by piece: white space and the rest of it go different ways. */
  readonly splitsText?: boolean;
  comment(builder: TreeBuilder, data: string, start: number, end: number): void;
  /** Where a doctype is not ignored. */
  doctype?(builder: TreeBuilder, doctype: Doctype, start: number, end: number): void;
  /** The document ends. */
  end(builder: TreeBuilder): void;
}

export type InsertionModes = Readonly<Record<ModeName, InsertionMode>>;

/** Makes a table by the ids of tags of rules by their names, several in one key; `other` is for all other names. */
export function ruleTable(rules: Readonly<Record<string, TagRule>>, other: TagRule): readonly TagRule[] {
  const table = Array.from({ length: tagCount }, () => other);
  for (const [names, rule] of Object.entries(rules)) {
    for (const name of names.split(/\s+/)) table[tagNamed(name).id] = rule;
  }
  return table;
}

/** The token is ignored. */
export function ignore(): void {}

/** A comment becomes a child of the current node. */
export function insertComment(builder: TreeBuilder, data: string, start: number, end: number): void {
  builder.insertComment(data, start, end);
}
