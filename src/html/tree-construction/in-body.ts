import { mathNamespace, svgNamespace } from "../document/html-names.ts";
import { readAttributes } from "../tokenizer/attributes.ts";
import type { Tag, TagName } from "../tokenizer/tokens.ts";
import { blocks, closeParagraph, endFormatting, formattingTags, inBodyEndTags } from "./in-body-end-tags.ts";
import { addFormatting, indexOfFormatting, lastFormatting, marker } from "./open-elements.ts";
import type { ModeInBody } from "./parser-state.ts";
import { tagsNamed, trait } from "./tags.ts";
import { asIn, type InsertionModes, ignore, ruleTable, type TagRule, type TreeBuilder } from "./tree-builder.ts";

const { body, button, dd, dt, img, li, nobr, optgroup, option, rtc, ruby, select, template } = tagsNamed(
  "body button dd dt img li nobr optgroup option rtc ruby select template",
);

const insertBlock: TagRule = (builder, tag) => {
  closeParagraph(builder);
  builder.insertElement(tag);
};

const insertInline: TagRule = (builder, tag) => {
  builder.reconstructFormatting();
  builder.insertElement(tag);
};

const insertRawText: TagRule = (builder, tag) => builder.insertTextElement(tag, "rawtext");

/** Start tags "in body" (HTML Standard, 13.2.6.4.7). */
const inBodyStartTags: readonly TagRule[] = ruleTable(
  {
    html(builder, tag) {
      const element = builder.open.elementAt(0);
      if (element && !builder.open.has(template)) adopt(builder, element, tag);
    },
    "base basefont bgsound link meta noframes script style template title": asIn("in head"),
    body(builder, tag) {
      const element = bodyElement(builder);
      if (!element || builder.open.has(template)) return;
      builder.framesetOk = false;
      adopt(builder, element, tag);
    },
    frameset(builder, tag) {
      const element = bodyElement(builder);
      if (!element || !builder.framesetOk) return;
      builder.detach(element);
      builder.open.popTo(1);
      builder.insertElement(tag);
      builder.mode = "in frameset";
    },
    [`${blocks} p`]: insertBlock,
    "h1 h2 h3 h4 h5 h6"(builder, tag) {
      closeParagraph(builder);
      if (builder.open.currentHas(trait.heading)) builder.open.pop();
      builder.insertElement(tag);
    },
    "pre listing"(builder, tag) {
      insertBlock(builder, tag);
      builder.skipsLineFeed = true;
      builder.framesetOk = false;
    },
    form(builder, tag) {
      const isInTemplate = builder.open.has(template);
      if (builder.form && !isInTemplate) return;
      closeParagraph(builder);
      const element = builder.insertElement(tag);
      if (!isInTemplate) builder.form = element;
    },
    li: (builder, tag) => insertListItem(builder, tag, [li]),
    "dd dt": (builder, tag) => insertListItem(builder, tag, [dd, dt]),
    plaintext(builder, tag) {
      insertBlock(builder, tag);
      builder.tokenizer.enter("plaintext", "");
    },
    button(builder, tag) {
      builder.open.popInScope(button);
      insertInline(builder, tag);
      builder.framesetOk = false;
    },
    a(builder, tag) {
      const { formatting, open } = builder;
      const earlier = formatting[lastFormatting(formatting, "a")];
      if (earlier) {
        endFormatting(builder, tag);
        const index = indexOfFormatting(formatting, earlier.element);
        if (index >= 0) formatting.splice(index, 1);
        open.remove(earlier.element);
      }
      insertFormatting(builder, tag);
    },
    [formattingTags]: insertFormatting,
    nobr(builder, tag) {
      const { current, displaced, open, tokenStart } = builder;
      builder.reconstructFormatting();
      if (open.hasInScope(nobr)) {
        // What the tag has opened again ends at once, and is not part of its element.
        if (current && current !== builder.current) displaced.push({ offset: tokenStart, parent: current });
        endFormatting(builder, tag);
      }
      insertFormatting(builder, tag);
    },
    "applet marquee object"(builder, tag) {
      insertInline(builder, tag);
      builder.formatting.push(marker);
      builder.framesetOk = false;
    },
    table(builder, tag) {
      if (builder.root.mode !== "quirks") closeParagraph(builder);
      builder.insertElement(tag);
      builder.framesetOk = false;
      builder.mode = "in table";
    },
    "area br embed img keygen wbr": insertVoidInline,
    image: (builder, tag) => insertVoidInline(builder, tag, img),
    input(builder, tag) {
      builder.open.popInScope(select);
      builder.reconstructFormatting();
      builder.insertVoid(tag);
      if (!isHiddenInput(builder, tag)) builder.framesetOk = false;
    },
    "param source track": (builder, tag) => builder.insertVoid(tag),
    hr(builder, tag) {
      closeParagraph(builder);
      if (builder.open.hasInScope(select)) builder.open.generateImpliedEndTags();
      builder.insertVoid(tag);
      builder.framesetOk = false;
    },
    textarea(builder, tag) {
      builder.insertTextElement(tag, "rcdata");
      builder.skipsLineFeed = true;
      builder.framesetOk = false;
    },
    xmp(builder, tag) {
      closeParagraph(builder);
      builder.reconstructFormatting();
      builder.framesetOk = false;
      insertRawText(builder, tag);
    },
    iframe(builder, tag) {
      builder.framesetOk = false;
      insertRawText(builder, tag);
    },
    "noembed noscript": insertRawText,
    select(builder, tag) {
      if (builder.open.popInScope(select)) return;
      insertInline(builder, tag);
      builder.framesetOk = false;
    },
    option: (builder, tag) => insertOption(builder, tag, optgroup),
    optgroup: (builder, tag) => insertOption(builder, tag),
    "rb rtc"(builder, tag) {
      if (builder.open.hasInScope(ruby)) builder.open.generateImpliedEndTags();
      builder.insertElement(tag);
    },
    "rp rt"(builder, tag) {
      if (builder.open.hasInScope(ruby)) builder.open.generateImpliedEndTags(rtc);
      builder.insertElement(tag);
    },
    math: (builder, tag) => insertForeignInline(builder, tag, mathNamespace),
    svg: (builder, tag) => insertForeignInline(builder, tag, svgNamespace),
    "caption col colgroup frame head tbody td tfoot th thead tr": ignore,
  },
  insertInline,
);

export const modesInBody: InsertionModes<ModeInBody> = {
  "in body": { startTags: inBodyStartTags, endTags: inBodyEndTags },

  /** The content of an element that holds text only (13.2.6.4.8). */
  text: {
    startTags: [],
    endTags: ruleTable({}, (builder) => {
      builder.open.pop();
      builder.mode = builder.originalMode;
    }),
    text: (builder, run) => builder.insertText(run),
    end(builder) {
      builder.open.pop();
      builder.mode = builder.originalMode;
      builder.processEnd();
    },
  },
};

export function isHiddenInput({ source }: TreeBuilder, { start }: Tag): boolean {
  return readAttributes(source, start)["type"]?.toLowerCase() === "hidden";
}

function insertFormatting(builder: TreeBuilder, tag: Tag): void {
  builder.reconstructFormatting();
  addFormatting(builder.formatting, { element: builder.insertElement(tag), tag: tag.name });
}

function insertVoidInline(builder: TreeBuilder, tag: Tag, name: TagName = tag.name): void {
  builder.reconstructFormatting();
  builder.insertVoid(tag, name);
  builder.framesetOk = false;
}

function insertForeignInline(builder: TreeBuilder, tag: Tag, namespace: string): void {
  builder.reconstructFormatting();
  builder.insertForeign(tag, namespace);
}

/** Ends an open item of the list, however deep the parser is in it. */
function insertListItem(builder: TreeBuilder, tag: Tag, names: readonly TagName[]): void {
  const { open } = builder;
  builder.framesetOk = false;
  const index = open.topmostWith(trait.endsListItems);
  const innermost = open.tagAt(index);
  if (innermost && names.includes(innermost)) open.popTo(index);
  insertBlock(builder, tag);
}

/** In a `select` an `option` ends the one before, whatever stands in that. */
function insertOption(builder: TreeBuilder, tag: Tag, kept?: TagName): void {
  const { open } = builder;
  if (open.hasInScope(select)) open.generateImpliedEndTags(kept);
  else if (open.currentTag === option) open.pop();
  insertInline(builder, tag);
}

function bodyElement({ open }: TreeBuilder): ReturnType<typeof open.elementAt> {
  return open.tagAt(1) === body ? open.elementAt(1) : undefined;
}

function adopt(builder: TreeBuilder, element: Parameters<TreeBuilder["adoptAttributes"]>[0], tag: Tag): void {
  builder.adoptAttributes(element, readAttributes(builder.source, tag.start));
}
