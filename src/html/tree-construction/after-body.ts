import { hasEndTag } from "../document/element-span.ts";
import type { ModeAfterBody } from "./parser-state.ts";
import { blanksOf, isBlankText, type TextRun } from "./text-run.ts";
import {
  againAfter,
  asIn,
  commentInDocument,
  type InsertionMode,
  type InsertionModes,
  ruleTable,
  type TreeBuilder,
} from "./tree-builder.ts";

// HTML Standard, 13.2.6.4.17 to 13.2.6.4.21: behind the body, and pages with a `frameset`.

const inBody = asIn("in body");
const noframes = asIn("in head");

/** What stands behind the body is content of the body. */
const back = againAfter((builder) => {
  builder.mode = "in body";
});

const behindBody: Pick<InsertionMode, "startTags" | "text"> = {
  startTags: ruleTable({ html: inBody }, back),
  text(builder, run) {
    if (!isBlankText(run)) builder.mode = "in body";
    builder.insertContentText(run);
  },
};

export const modesAfterBody: InsertionModes<ModeAfterBody> = {
  "after body": {
    ...behindBody,
    endTags: ruleTable({ html: endPage }, back),
    comment(builder, data, start, end) {
      builder.insertComment(data, start, end, builder.open.elementAt(0));
    },
  },

  "after after body": {
    ...behindBody,
    endTags: ruleTable({}, back),
    comment: commentInDocument,
  },

  "in frameset": {
    startTags: ruleTable({
      html: inBody,
      frameset: (builder, tag) => void builder.insertElement(tag),
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
  },

  "after frameset": {
    startTags: ruleTable({ html: inBody, noframes }),
    endTags: ruleTable({
      html(builder) {
        builder.mode = "after after frameset";
      },
    }),
    text: insertBlanks,
  },

  "after after frameset": {
    startTags: ruleTable({ html: inBody, noframes }),
    endTags: ruleTable({}),
    text(builder, run) {
      const blanks = blanksOf(run);
      if (blanks) builder.insertContentText(blanks);
    },
    comment: commentInDocument,
  },
};

/** `</html>` behind the body. */
function endPage(builder: TreeBuilder): void {
  const { open } = builder;
  builder.mode = "after after body";
  const html = open.elementAt(0);
  const second = open.elementAt(1);
  if (html) builder.markEnd(html);
  if (second && !hasEndTag(second)) builder.markEnd(second);
}

/** Inserts the white space of text beside frames; the rest of it is dropped. */
function insertBlanks(builder: TreeBuilder, run: TextRun): void {
  const blanks = blanksOf(run);
  if (blanks) builder.insertText(blanks);
}
