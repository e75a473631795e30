import { tagCount } from "../tokenizer/tokens.ts";
import { tagNamed } from "./tags.ts";
import type { TagRule, TreeBuilder } from "./tree-builder.ts";

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
