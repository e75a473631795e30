import { inBodyEndTags } from "./in-body-end-tags.ts";
import { inBodyStartTags } from "./in-body-start-tags.ts";
import { insertComment } from "./rule-table.ts";
import { isBlankText, type TextRun } from "./text-run.ts";
import type { InsertionMode, TreeBuilder } from "./tree-builder.ts";

/** HTML Standard, 13.2.6.4.7. */
export const inBody: InsertionMode = {
  startTags: inBodyStartTags,
  endTags: inBodyEndTags,
  text: insertContentText,
  comment: insertComment,
  end(builder) {
    if (builder.templateModes.length > 0) builder.rulesOf("in template").end(builder);
    else builder.stop();
  },
};

/** The content of an element that holds text only (13.2.6.4.8). */
export const text: InsertionMode = {
  startTags: [],
  endTags: Array.from({ length: inBodyEndTags.length }, () => (builder: TreeBuilder): void => {
    builder.open.pop();
    builder.mode = builder.originalMode;
  }),
  text: (builder, run) => builder.insertText(run),
  comment: insertComment,
  end(builder) {
    builder.open.pop();
    builder.mode = builder.originalMode;
    builder.processEnd();
  },
};

/** Text in the body, a cell, a caption, a template. */
export function insertContentText(builder: TreeBuilder, run: TextRun): void {
  builder.reconstructFormatting();
  builder.insertText(run);
  if (builder.framesetOk && !isBlankText(run)) builder.framesetOk = false;
}
