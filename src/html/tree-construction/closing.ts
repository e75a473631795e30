import type { TagName } from "../tokenizer/tag-names.ts";
import type { Tag } from "../tokenizer/tokens.ts";
import { runAdoptionAgency } from "./adoption-agency.ts";
import { tagNamed } from "./tags.ts";
import type { TreeBuilder } from "./tree-builder.ts";

const p = tagNamed("p");

/** "If the stack of open elements has a p element in button scope, then close a p element." */
export function closeParagraph({ open }: TreeBuilder): void {
  if (open.currentTag === p) open.pop();
  else if (open.hasInScope(p, "buttonScope")) {
    open.generateImpliedEndTags(p);
    open.popThrough(p);
  }
}

/** Ends an element in scope, and what is open in it. */
export function closeInScope({ open }: TreeBuilder, { name }: { readonly name: TagName }): boolean {
  if (!open.hasInScope(name)) return false;
  open.generateImpliedEndTags();
  open.popThrough(name);
  return true;
}

/** The end tag of formatting. */
export function endFormatting(builder: TreeBuilder, tag: Pick<Tag, "name">): void {
  runAdoptionAgency(builder, tag, () => endAnyOther(builder, tag));
}

/** "Any other end tag": ends the innermost element of its name, unless a special element is open within that. */
export function endAnyOther({ open }: TreeBuilder, { name }: Pick<Tag, "name">): void {
  const index = open.indexOf(name);
  if (index < 0 || index < open.topmostWith("special")) return;
  open.generateImpliedEndTags(name);
  open.popTo(index);
}
