import type { SourceElement } from "../document/html-nodes.ts";
import type { Tag } from "../tokenizer/tokens.ts";
import type { OpenElement } from "./open-elements.ts";
import { trait, traitsOf } from "./tags.ts";
import { contentParent, type TreeWriter } from "./tree-writer.ts";

// HTML Standard, 13.2.6.4.7: so often, and with so many formatting elements in between, for one end tag.
const outerLoops = 8;
const innerLoops = 3;

/**
 * The adoption agency algorithm: an end tag of formatting, `</b>`, ends it also where paragraphs have begun meanwhile, by
 * giving each of them formatting of its own. `anyOther` is what an end tag does that ends no formatting.
 */
export function runAdoptionAgency(writer: TreeWriter, { name: tag }: Pick<Tag, "name">, anyOther: () => void): void {
  const { open, formatting } = writer;
  const { current } = open;
  if (current && open.currentTag === tag && formatting.indexOfElement(current) < 0) {
    open.pop();
    return;
  }
  for (let loop = 0; loop < outerLoops; loop += 1) {
    const entryIndex = formatting.lastIndexOf(tag.name);
    const entry = entryIndex < 0 ? null : formatting.at(entryIndex);
    if (!entry) {
      anyOther();
      return;
    }
    const index = open.indexOfElement(entry.element, entry.tag);
    if (index < 0) {
      formatting.removeAt(entryIndex);
      return;
    }
    if (index < open.topmostWith("scope")) return;
    const block = firstSpecialAbove(writer, index);
    if (block < 0) {
      open.popTo(index);
      formatting.removeAt(entryIndex);
      return;
    }
    writer.budget.addTag(open.length, 0);
    adopt(writer, entry, index, block);
  }
}

/** The "furthest block": the first special element within the formatting element. */
function firstSpecialAbove({ open }: TreeWriter, index: number): number {
  if (open.topmostWith("special") <= index) return -1;
  for (let above = index + 1; above < open.length; above += 1) {
    const tag = open.tagAt(above);
    if (tag && (traitsOf(tag) & trait.special) !== 0) return above;
  }
  return -1;
}

function adopt(writer: TreeWriter, formattingEntry: OpenElement, index: number, blockIndex: number): void {
  const { open, formatting, lists } = writer;
  const ancestor = open.elementAt(index - 1);
  const ancestorTag = open.tagAt(index - 1);
  const above = open.cutFrom(index);
  const [, ...between] = above.slice(0, blockIndex - index);
  const [block, ...inBlock] = above.slice(blockIndex - index);
  if (!ancestor || !ancestorTag || !block) return;
  const original = formattingEntry.element;
  writer.close(original);

  // From the block outwards, formatting between it and the element is made again around it; the rest is left behind.
  const kept: OpenElement[] = [];
  let bookmark = formatting.indexOfElement(original);
  let last: SourceElement = block.element;
  let count = 0;
  for (const node of between.reverse()) {
    count += 1;
    let entryIndex = formatting.indexOfElement(node.element);
    if (count > innerLoops && entryIndex >= 0) {
      formatting.removeAt(entryIndex);
      if (entryIndex < bookmark) bookmark -= 1;
      entryIndex = -1;
    }
    writer.close(node.element);
    if (entryIndex < 0) continue;
    const copy = writer.copyOf(node.element, node.element);
    formatting.replaceAt(entryIndex, copy, node.tag);
    kept.unshift({ element: copy, tag: node.tag });
    if (last === block.element) bookmark = entryIndex + 1;
    lists.detach(last);
    lists.append(copy, last);
    last = copy;
  }

  lists.detach(last);
  const { parent, before } = writer.placeIn(ancestor, ancestorTag, true);
  if (before) lists.insertBefore(before, last);
  else lists.append(parent, last);

  const copy = writer.copyOf(original, original);
  const content = contentParent(block.element) ?? block.element;
  lists.moveAll(content, copy);
  lists.append(content, copy);

  const formattingIndex = formatting.indexOfElement(original);
  formatting.removeAt(formattingIndex);
  formatting.insertAt(formattingIndex < bookmark ? bookmark - 1 : bookmark, copy, formattingEntry.tag);
  open.putBack([...kept, block, { element: copy, tag: formattingEntry.tag }, ...inBlock]);
}
