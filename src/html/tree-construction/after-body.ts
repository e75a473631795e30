import { endPage } from "./in-body-end-tags.ts";
import { blanksOf, isBlankText, type TextRun } from "./text-run.ts";
import {
  type InsertionMode,
  ignore,
  insertComment,
  ruleTable,
  type TagRule,
  type TreeBuilder,
} from "./tree-builder.ts";

// HTML Standard, 13.2.6.4.17 to 13.2.6.4.21: behind the body, and pages with a `frameset`.

const inBody: TagRule = (builder, tag) => builder.startTagIn("in body", tag);

/** What stands behind the body is content of the body. */
const backStart: TagRule = (builder, tag) => {
  builder.mode = "in body";
  builder.processStartTag(tag);
};
const backEnd: TagRule = (builder, tag) => {
  builder.mode = "in body";
  builder.processEndTag(tag);
};

function backText(builder: TreeBuilder, run: TextRun): void {
  if (!isBlankText(run)) builder.mode = "in body";
  builder.rulesOf("in body").text(builder, run);
}

export const afterBody: InsertionMode = {
  startTags: ruleTable({ html: inBody }, backStart),
  endTags: ruleTable({ html: endPage }, backEnd),
  text: backText,
  comment(builder, data, start, end) {
    builder.insertComment(data, start, end, builder.open.elementAt(0));
  },
  end: (builder) => builder.stop(),
};

export const afterAfterBody: InsertionMode = {
  startTags: ruleTable({ html: inBody }, backStart),
  endTags: ruleTable({}, backEnd),
  text: backText,
  comment: commentInDocument,
  end: (builder) => builder.stop(),
};

export const inFrameset: InsertionMode = {
  startTags: ruleTable(
    {
      html: inBody,
      frameset: (builder, tag) => {
        builder.insertElement(tag);
      },
      frame: (builder, tag) => builder.insertVoid(tag),
      noframes: (builder, tag) => builder.startTagIn("in head", tag),
    },
    ignore,
  ),
  endTags: ruleTable(
    {
      frameset(builder) {
        if (builder.open.length === 1) return;
        builder.open.pop();
        if (builder.current?.name !== "frameset") builder.mode = "after frameset";
      },
    },
    ignore,
  ),
  text: insertBlanks,
  comment: insertComment,
  end: (builder) => builder.stop(),
};

export const afterFrameset: InsertionMode = {
  startTags: ruleTable({ html: inBody, noframes: (builder, tag) => builder.startTagIn("in head", tag) }, ignore),
  endTags: ruleTable(
    {
      html(builder) {
        builder.mode = "after after frameset";
      },
    },
    ignore,
  ),
  text: insertBlanks,
  comment: insertComment,
  end: (builder) => builder.stop(),
};

export const afterAfterFrameset: InsertionMode = {
  startTags: ruleTable({ html: inBody, noframes: (builder, tag) => builder.startTagIn("in head", tag) }, ignore),
  endTags: ruleTable({}, ignore),
  text(builder, run) {
    const blanks = blanksOf(run);
    if (blanks) builder.rulesOf("in body").text(builder, blanks);
  },
  comment: commentInDocument,
  end: (builder) => builder.stop(),
};

/** Inserts the white space of text beside frames; the rest of it is no content. */
function insertBlanks(builder: TreeBuilder, run: TextRun): void {
  const blanks = blanksOf(run);
  if (blanks) builder.insertText(blanks);
}

function commentInDocument(builder: TreeBuilder, data: string, start: number, end: number): void {
  builder.insertComment(data, start, end, builder.root);
}
