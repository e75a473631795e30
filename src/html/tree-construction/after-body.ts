import { endPage } from "./in-body-end-tags.ts";
import { blanksOf, isBlankText, type TextRun } from "./text-run.ts";
import {
  commentInDocument,
  endAgainAfter,
  type InsertionMode,
  ruleTable,
  startAgainAfter,
  startAsIn,
  type TreeBuilder,
} from "./tree-builder.ts";

// HTML Standard, 13.2.6.4.17 to 13.2.6.4.21: behind the body, and pages with a `frameset`.

const inBody = startAsIn("in body");
const noframes = startAsIn("in head");

/** What stands behind the body is content of the body. */
function back(builder: TreeBuilder): boolean {
  builder.mode = "in body";
  return true;
}

function backText(builder: TreeBuilder, run: TextRun): void {
  if (!isBlankText(run)) builder.mode = "in body";
  builder.insertContentText(run);
}

export const afterBody: InsertionMode = {
  startTags: ruleTable({ html: inBody }, startAgainAfter(back)),
  endTags: ruleTable({ html: endPage }, endAgainAfter(back)),
  text: backText,
  comment(builder, data, start, end) {
    builder.insertComment(data, start, end, builder.open.elementAt(0));
  },
};

export const afterAfterBody: InsertionMode = {
  startTags: ruleTable({ html: inBody }, startAgainAfter(back)),
  endTags: ruleTable({}, endAgainAfter(back)),
  text: backText,
  comment: commentInDocument,
};

export const inFrameset: InsertionMode = {
  startTags: ruleTable({
    html: inBody,
    frameset(builder, tag) {
      builder.insertElement(tag);
    },
    frame: (builder, tag) => builder.insertVoid(tag),
    noframes,
  }),
  endTags: ruleTable({
    frameset(builder) {
      if (builder.open.length === 1) return;
      builder.open.pop();
      if (builder.current?.name !== "frameset") builder.mode = "after frameset";
    },
  }),
  text: insertBlanks,
};

export const afterFrameset: InsertionMode = {
  startTags: ruleTable({ html: inBody, noframes }),
  endTags: ruleTable({
    html(builder) {
      builder.mode = "after after frameset";
    },
  }),
  text: insertBlanks,
};

export const afterAfterFrameset: InsertionMode = {
  startTags: ruleTable({ html: inBody, noframes }),
  endTags: ruleTable({}),
  text(builder, run) {
    const blanks = blanksOf(run);
    if (blanks) builder.insertContentText(blanks);
  },
  comment: commentInDocument,
};

/** Inserts the white space of text beside frames; the rest of it is no content. */
function insertBlanks(builder: TreeBuilder, run: TextRun): void {
  const blanks = blanksOf(run);
  if (blanks) builder.insertText(blanks);
}
