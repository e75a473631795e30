import { appendChild, contentParent, detachChild, moveChildren, type SourceElement } from "../document/html-nodes.ts";
import type { Tag } from "../tokenizer/tokens.ts";
import { clearToMarker, indexOfFormatting, lastFormatting, type OpenElement } from "./open-elements.ts";
import { tagsNamed, trait, traitsOf } from "./tags.ts";
import { asIn, ruleTable, type TagRule, type TreeBuilder } from "./tree-builder.ts";
import { startOf } from "./tree-writer.ts";

const { body, br, form, li, p, template, h1, h2, h3, h4, h5, h6 } = tagsNamed(
  "body br form li p template h1 h2 h3 h4 h5 h6",
);

// HTML Standard, 13.2.6.4.7: the most rounds for one end tag, and the most formatting elements in each.
const outerLoops = 8;
const innerLoops = 3;

/** Tags that begin and end a block, and those of formatting. */
export const blocks = `address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer
  header hgroup main menu nav ol search section summary ul`;
export const formattingTags = "b big code em font i s small strike strong tt u";

/** End tags "in body" (HTML Standard, 13.2.6.4.7). */
export const inBodyEndTags: readonly TagRule[] = ruleTable(
  {
    template: asIn("in head"),
    body(builder) {
      if (!builder.open.hasInScope(body)) return;
      builder.mode = "after body";
      const element = builder.open.elementAt(1);
      if (element && builder.open.tagAt(1) === body) builder.markEnd(element);
    },
    html(builder, tag) {
      if (!builder.open.hasInScope(body)) return;
      builder.mode = "after body";
      builder.processTag(tag);
    },
    [`${blocks} button listing pre select`]: ({ open }, { name }) => open.popInScope(name),
    form: endForm,
    p(builder) {
      if (!builder.open.hasInScope(p, trait.buttonScope)) builder.insertImplied(p);
      closeParagraph(builder);
    },
    li: ({ open }) => open.popInScope(li, trait.listItemScope),
    "dd dt": ({ open }, { name }) => open.popInScope(name),
    "h1 h2 h3 h4 h5 h6"({ open }) {
      const topmost = Math.max(...[h1, h2, h3, h4, h5, h6].map((heading) => open.indexOf(heading)));
      if (topmost >= 0 && topmost > open.topmostWith(trait.scope)) open.popTo(topmost);
    },
    [`${formattingTags} a nobr`]: endFormatting,
    "applet marquee object"({ open, formatting }, { name }) {
      if (open.popInScope(name)) clearToMarker(formatting);
    },
    br(builder) {
      builder.reconstructFormatting();
      builder.insertImplied(br);
      builder.open.pop();
      builder.framesetOk = false;
    },
  },
  endAnyOther,
);

function endForm(builder: TreeBuilder): void {
  const { open } = builder;
  if (open.has(template)) {
    open.popInScope(form);
    return;
  }
  const element = builder.form;
  builder.form = undefined;
  const index = element ? open.indexOfElement(element) : -1;
  if (!element || index < 0 || index < open.topmostWith(trait.scope)) return;
  open.generateImpliedEndTags();
  open.remove(element);
}

/** "If the stack of open elements has a p element in button scope, then close a p element." */
export function closeParagraph({ open }: TreeBuilder): void {
  open.popInScope(p, trait.buttonScope);
}

/** "Any other end tag": ends the innermost element of its name, unless a special element is open within that. */
function endAnyOther({ open }: TreeBuilder, { name }: Pick<Tag, "name">): void {
  const index = open.indexOf(name);
  if (index >= 0 && index >= open.topmostWith(trait.special)) open.popTo(index);
}

/** The adoption agency algorithm: `</b>` ends formatting also where paragraphs have begun meanwhile. */
export function endFormatting(builder: TreeBuilder, { name: tag }: Pick<Tag, "name">): void {
  const { open, formatting } = builder;
  const { current } = open;
  if (current && open.currentTag === tag && indexOfFormatting(formatting, current) < 0) {
    open.pop();
    return;
  }
  for (let loop = 0; loop < outerLoops; loop += 1) {
    const entryIndex = lastFormatting(formatting, tag.name);
    const entry = formatting[entryIndex];
    if (!entry) {
      endAnyOther(builder, { name: tag });
      return;
    }
    const index = open.indexOfElement(entry.element);
    if (index < 0) {
      formatting.splice(entryIndex, 1);
      return;
    }
    if (index < open.topmostWith(trait.scope)) return;
    const block = firstSpecialAbove(builder, index);
    if (block < 0) {
      open.popTo(index);
      formatting.splice(entryIndex, 1);
      return;
    }
    builder.budget.addTag(open.length, 0);
    adopt(builder, entry, index, block);
  }
}

/** The "furthest block": the first special element within the formatting element. */
function firstSpecialAbove({ open }: TreeBuilder, index: number): number {
  if (open.topmostWith(trait.special) <= index) return -1;
  for (let above = index + 1; above < open.length; above += 1) {
    const tag = open.tagAt(above);
    if (tag && (traitsOf(tag) & trait.special) !== 0) return above;
  }
  return -1;
}

function adopt(builder: TreeBuilder, formattingEntry: OpenElement, index: number, blockIndex: number): void {
  const { open, formatting } = builder;
  const ancestor = open.elementAt(index - 1);
  const ancestorTag = open.tagAt(index - 1);
  const above = open.cutFrom(index);
  const [, ...between] = above.slice(0, blockIndex - index);
  const [block, ...inBlock] = above.slice(blockIndex - index);
  if (!ancestor || !ancestorTag || !block) return;
  builder.forgetStatesBehind(startOf((between[0] ?? block).element));
  // What stands in the block beside the tag is formatted anew by it.
  builder.displaced.push({ offset: builder.tokenStart, parent: block.element });
  const original = formattingEntry.element;
  builder.close(original);

  // From the block outwards, formatting between it and the element is made again around it; the rest is left behind.
  const kept: OpenElement[] = [];
  let bookmark = indexOfFormatting(formatting, original);
  let last: SourceElement = block.element;
  let count = 0;
  for (const node of between.reverse()) {
    count += 1;
    let entryIndex = indexOfFormatting(formatting, node.element);
    if (count > innerLoops && entryIndex >= 0) {
      formatting.splice(entryIndex, 1);
      if (entryIndex < bookmark) bookmark -= 1;
      entryIndex = -1;
    }
    builder.close(node.element);
    if (entryIndex < 0) continue;
    const copy = { element: builder.copyOf(node.element), tag: node.tag };
    formatting[entryIndex] = copy;
    kept.unshift(copy);
    if (last === block.element) bookmark = entryIndex + 1;
    detachChild(last);
    appendChild(copy.element, last);
    last = copy.element;
  }

  detachChild(last);
  builder.insertAt(builder.placeIn(ancestor, ancestorTag), last);

  const copy = { element: builder.copyOf(original), tag: formattingEntry.tag };
  moveChildren(contentParent(block.element), copy.element);
  appendChild(contentParent(block.element), copy.element);

  const formattingIndex = indexOfFormatting(formatting, original);
  formatting.splice(formattingIndex, 1);
  formatting.splice(formattingIndex < bookmark ? bookmark - 1 : bookmark, 0, copy);
  open.putBack([...kept, block, copy, ...inBlock]);
}
