import type { Tag, TagName } from "../tokenizer/tokens.ts";
import { isHiddenInput } from "./in-body.ts";
import type { ModeName } from "./parser-state.ts";
import { tagsNamed, trait } from "./tags.ts";
import { blanksOf, isBlankText, splitBlanks } from "./text-run.ts";
import {
  type InsertionMode,
  ignore,
  insertComment,
  ruleTable,
  type TagRule,
  type TreeBuilder,
} from "./tree-builder.ts";

// HTML Standard, 13.2.6.4.9 to 13.2.6.4.15.

const { caption, colgroup, table, tbody, td, template, tfoot, th, thead, tr } = tagsNamed(
  ...(["caption", "colgroup", "table", "tbody", "td", "template", "tfoot", "th", "thead", "tr"] as const),
);

/** What does not belong into a table is processed as in the body, but goes before the table. */
function fostering(work: (builder: TreeBuilder, tag: Tag) => void): TagRule {
  return (builder, tag) => {
    builder.fosters = true;
    work(builder, tag);
    builder.fosters = false;
  };
}

const fosterStartTag = fostering((builder, tag) => builder.startTagIn("in body", tag));
const fosterEndTag = fostering((builder, tag) => builder.endTagIn("in body", tag));

const tableText: Pick<InsertionMode, "text" | "comment" | "end"> = {
  text(builder, run) {
    if (builder.open.currentHas(trait.fosters) && isBlankText(run)) {
      builder.insertText(run);
      return;
    }
    builder.fosters = true;
    builder.insertContentText(run);
    builder.fosters = false;
  },
  comment: insertComment,
  end: (builder) => builder.rulesOf("in body").end(builder),
};

export const inTable: InsertionMode = {
  ...tableText,
  startTags: ruleTable(
    {
      caption(builder, tag) {
        builder.open.clearTo(trait.tableScope);
        builder.formatting.pushMarker();
        builder.insertElement(tag);
        builder.mode = "in caption";
      },
      colgroup(builder, tag) {
        builder.open.clearTo(trait.tableScope);
        builder.insertElement(tag);
        builder.mode = "in column group";
      },
      col: implying(colgroup, trait.tableScope, "in column group"),
      "tbody tfoot thead"(builder, tag) {
        builder.open.clearTo(trait.tableScope);
        builder.insertElement(tag);
        builder.mode = "in table body";
      },
      "td th tr": implying(tbody, trait.tableScope, "in table body"),
      table(builder, tag) {
        if (closeTable(builder)) builder.processStartTag(tag);
      },
      "style script template": (builder, tag) => builder.startTagIn("in head", tag),
      input(builder, tag) {
        if (isHiddenInput(builder, tag)) builder.insertVoid(tag);
        else fosterStartTag(builder, tag);
      },
      form(builder, tag) {
        if (builder.form || builder.open.has(template)) return;
        builder.form = builder.insertElement(tag);
        builder.open.pop();
      },
    },
    fosterStartTag,
  ),
  endTags: ruleTable(
    {
      table: closeTable,
      "body caption col colgroup html tbody td tfoot th thead tr": ignore,
      template: (builder, tag) => builder.endTagIn("in head", tag),
    },
    fosterEndTag,
  ),
};

export const inCaption: InsertionMode = {
  startTags: ruleTable(
    {
      "caption col colgroup tbody td tfoot th thead tr"(builder, tag) {
        if (closeCaption(builder)) builder.processStartTag(tag);
      },
    },
    (builder, tag) => builder.startTagIn("in body", tag),
  ),
  endTags: ruleTable(
    {
      caption: closeCaption,
      table(builder, tag) {
        if (closeCaption(builder)) builder.processEndTag(tag);
      },
      "body col colgroup html tbody td tfoot th thead tr": ignore,
    },
    (builder, tag) => builder.endTagIn("in body", tag),
  ),
  text: (builder, run) => builder.insertContentText(run),
  comment: insertComment,
  end: tableText.end,
};

export const inColumnGroup: InsertionMode = {
  startTags: ruleTable(
    {
      html: (builder, tag) => builder.startTagIn("in body", tag),
      col: (builder, tag) => builder.insertVoid(tag),
      template: (builder, tag) => builder.startTagIn("in head", tag),
    },
    (builder, tag) => {
      if (leaveColumnGroup(builder)) builder.processStartTag(tag);
    },
  ),
  endTags: ruleTable(
    {
      colgroup: leaveColumnGroup,
      col: ignore,
      template: (builder, tag) => builder.endTagIn("in head", tag),
    },
    (builder, tag) => {
      if (leaveColumnGroup(builder)) builder.processEndTag(tag);
    },
  ),
  splitsText: true,
  text(builder, run) {
    const isInGroup = builder.open.currentTag === colgroup; // not directly in a template
    const [blanks, rest] = isInGroup ? splitBlanks(run, builder.source) : [blanksOf(run), undefined];
    if (blanks) builder.insertText(blanks);
    if (rest && leaveColumnGroup(builder)) builder.processTextAgain(rest); // the table fosters all of the text, or none
  },
  comment: insertComment,
  end: tableText.end,
};

export const inTableBody: InsertionMode = {
  ...tableText,
  startTags: ruleTable(
    {
      tr(builder, tag) {
        builder.open.clearTo(trait.tableBodyContext);
        builder.insertElement(tag);
        builder.mode = "in row";
      },
      "th td": implying(tr, trait.tableBodyContext, "in row"),
      "caption col colgroup tbody tfoot thead"(builder, tag) {
        if (closeTableBody(builder)) builder.processStartTag(tag);
      },
    },
    (builder, tag) => builder.startTagIn("in table", tag),
  ),
  endTags: ruleTable(
    {
      "tbody tfoot thead"(builder, tag) {
        if (builder.open.hasInScope(tag.name, "tableScope")) leaveTo(builder, trait.tableBodyContext, "in table");
      },
      table(builder, tag) {
        if (closeTableBody(builder)) builder.processEndTag(tag);
      },
      "body caption col colgroup html td th tr": ignore,
    },
    (builder, tag) => builder.endTagIn("in table", tag),
  ),
};

export const inRow: InsertionMode = {
  ...tableText,
  startTags: ruleTable(
    {
      "th td"(builder, tag) {
        builder.open.clearTo(trait.tableRowContext);
        builder.insertElement(tag);
        builder.mode = "in cell";
        builder.formatting.pushMarker();
      },
      "caption col colgroup tbody tfoot thead tr"(builder, tag) {
        if (closeRow(builder)) builder.processStartTag(tag);
      },
    },
    (builder, tag) => builder.startTagIn("in table", tag),
  ),
  endTags: ruleTable(
    {
      tr: closeRow,
      table(builder, tag) {
        if (closeRow(builder)) builder.processEndTag(tag);
      },
      "tbody tfoot thead"(builder, tag) {
        if (builder.open.hasInScope(tag.name, "tableScope") && closeRow(builder)) builder.processEndTag(tag);
      },
      "body caption col colgroup html td th": ignore,
    },
    (builder, tag) => builder.endTagIn("in table", tag),
  ),
};

export const inCell: InsertionMode = {
  startTags: ruleTable(
    {
      "caption col colgroup tbody td tfoot th thead tr"(builder, tag) {
        if (closeCell(builder)) builder.processStartTag(tag);
      },
    },
    (builder, tag) => builder.startTagIn("in body", tag),
  ),
  endTags: ruleTable(
    {
      "td th"(builder, { name }) {
        const { open } = builder;
        if (!open.hasInScope(name, "tableScope")) return;
        open.generateImpliedEndTags();
        open.popThrough(name);
        builder.formatting.clearToMarker();
        builder.mode = "in row";
      },
      "body caption col colgroup html": ignore,
      "table tbody tfoot thead tr"(builder, tag) {
        if (builder.open.hasInScope(tag.name, "tableScope") && closeCell(builder)) builder.processEndTag(tag);
      },
    },
    (builder, tag) => builder.endTagIn("in body", tag),
  ),
  text: (builder, run) => builder.insertContentText(run),
  comment: insertComment,
  end: tableText.end,
};

/** A start tag before which another one was left out, such as `<tr>` before `<td>`. */
function implying(name: TagName, context: number, mode: ModeName): TagRule {
  return (builder, tag) => {
    builder.open.clearTo(context);
    builder.insertImplied(name);
    builder.mode = mode;
    builder.processStartTag(tag);
  };
}

/** Closes what is open in a part of a table, and that part. */
function leaveTo(builder: TreeBuilder, context: number, mode: ModeName): void {
  builder.open.clearTo(context);
  builder.open.pop();
  builder.mode = mode;
}

function closeTable(builder: TreeBuilder): boolean {
  if (!builder.open.hasInScope(table, "tableScope")) return false;
  builder.open.popThrough(table);
  builder.resetMode();
  return true;
}

function closeCaption(builder: TreeBuilder): boolean {
  const { open } = builder;
  if (!open.hasInScope(caption, "tableScope")) return false;
  open.generateImpliedEndTags();
  open.popThrough(caption);
  builder.formatting.clearToMarker();
  builder.mode = "in table";
  return true;
}

function leaveColumnGroup(builder: TreeBuilder): boolean {
  if (builder.open.currentTag !== colgroup) return false;
  builder.open.pop();
  builder.mode = "in table";
  return true;
}

function closeTableBody(builder: TreeBuilder): boolean {
  if (![tbody, thead, tfoot].some((name) => builder.open.hasInScope(name, "tableScope"))) return false;
  leaveTo(builder, trait.tableBodyContext, "in table");
  return true;
}

function closeRow(builder: TreeBuilder): boolean {
  if (!builder.open.hasInScope(tr, "tableScope")) return false;
  leaveTo(builder, trait.tableRowContext, "in table body");
  return true;
}

/** A cell is in scope whenever this mode is on, in a document. */
function closeCell(builder: TreeBuilder): boolean {
  const { open } = builder;
  open.generateImpliedEndTags();
  open.popTo(Math.max(open.indexOf(td), open.indexOf(th), 1));
  builder.formatting.clearToMarker();
  builder.mode = "in row";
  return true;
}
