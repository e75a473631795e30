import type { Tag, TagName } from "../tokenizer/tokens.ts";
import { isHiddenInput } from "./in-body.ts";
import { clearToMarker, marker } from "./open-elements.ts";
import type { ModeName } from "./parser-state.ts";
import { tagsNamed, trait } from "./tags.ts";
import { blanksOf, splitBlanks, type TextRun } from "./text-run.ts";
import {
  endAgainAfter,
  endAsIn,
  type InsertionMode,
  ignore,
  ruleTable,
  startAgainAfter,
  startAsIn,
  type TagRule,
  type TreeBuilder,
} from "./tree-builder.ts";

// HTML Standard, 13.2.6.4.9 to 13.2.6.4.15.

const { caption, colgroup, table, tbody, td, template, tfoot, th, thead, tr } = tagsNamed(
  ...(["caption", "colgroup", "table", "tbody", "td", "template", "tfoot", "th", "thead", "tr"] as const),
);

/** What does not belong into a table is processed as in the body, but goes before the table. */
function fostering<Token>(work: (builder: TreeBuilder, token: Token) => void) {
  return (builder: TreeBuilder, token: Token): void => {
    builder.fosters = true;
    work(builder, token);
    builder.fosters = false;
  };
}

const fosterStartTag = fostering(startAsIn("in body"));
const fosterEndTag = fostering(endAsIn("in body"));
const fosterText = fostering<TextRun>((builder, run) => builder.insertContentText(run));

function tableText(builder: TreeBuilder, run: TextRun): void {
  if (builder.open.currentHas(trait.fosters)) builder.addTableText(run);
  else fosterText(builder, run);
}

export const inTable: InsertionMode = {
  text: tableText,
  startTags: ruleTable(
    {
      caption(builder, tag) {
        builder.open.clearTo(trait.tableScope);
        builder.formatting.push(marker);
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
      table: startAgainAfter(closeTable),
      "style script template": startAsIn("in head"),
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
      template: endAsIn("in head"),
    },
    fosterEndTag,
  ),
};

export const inCaption: InsertionMode = {
  startTags: ruleTable(
    {
      "caption col colgroup tbody td tfoot th thead tr": startAgainAfter(closeCaption),
    },
    startAsIn("in body"),
  ),
  endTags: ruleTable(
    {
      caption: closeCaption,
      table: endAgainAfter(closeCaption),
      "body col colgroup html tbody td tfoot th thead tr": ignore,
    },
    endAsIn("in body"),
  ),
};

export const inColumnGroup: InsertionMode = {
  startTags: ruleTable(
    {
      html: startAsIn("in body"),
      col: (builder, tag) => builder.insertVoid(tag),
      template: startAsIn("in head"),
    },
    startAgainAfter(leaveColumnGroup),
  ),
  endTags: ruleTable(
    {
      colgroup: leaveColumnGroup,
      col: ignore,
      template: endAsIn("in head"),
    },
    endAgainAfter(leaveColumnGroup),
  ),
  text(builder, run) {
    const isInGroup = builder.open.currentTag === colgroup; // not directly in a template
    const [blanks, rest] = isInGroup ? splitBlanks(run, builder.source) : [blanksOf(run), undefined];
    if (blanks) builder.insertText(blanks);
    if (rest && leaveColumnGroup(builder)) builder.processText(rest); // the table fosters all of the text, or nothing
  },
};

export const inTableBody: InsertionMode = {
  text: tableText,
  startTags: ruleTable(
    {
      tr(builder, tag) {
        builder.open.clearTo(trait.tableBodyContext);
        builder.insertElement(tag);
        builder.mode = "in row";
      },
      "th td": implying(tr, trait.tableBodyContext, "in row"),
      "caption col colgroup tbody tfoot thead": startAgainAfter(closeTableBody),
    },
    startAsIn("in table"),
  ),
  endTags: ruleTable(
    {
      "tbody tfoot thead"(builder, tag) {
        if (isInTableScope(builder, tag)) leaveTo(builder, trait.tableBodyContext, "in table");
      },
      table: endAgainAfter(closeTableBody),
      "body caption col colgroup html td th tr": ignore,
    },
    endAsIn("in table"),
  ),
};

export const inRow: InsertionMode = {
  text: tableText,
  startTags: ruleTable(
    {
      "th td"(builder, tag) {
        builder.open.clearTo(trait.tableRowContext);
        builder.insertElement(tag);
        builder.mode = "in cell";
        builder.formatting.push(marker);
      },
      "caption col colgroup tbody tfoot thead tr": startAgainAfter(closeRow),
    },
    startAsIn("in table"),
  ),
  endTags: ruleTable(
    {
      tr: closeRow,
      table: endAgainAfter(closeRow),
      "tbody tfoot thead": endAgainAfter((builder, tag) => isInTableScope(builder, tag) && closeRow(builder)),
      "body caption col colgroup html td th": ignore,
    },
    endAsIn("in table"),
  ),
};

export const inCell: InsertionMode = {
  startTags: ruleTable(
    {
      "caption col colgroup tbody td tfoot th thead tr": startAgainAfter(closeCell),
    },
    startAsIn("in body"),
  ),
  endTags: ruleTable(
    {
      "td th"(builder, tag) {
        if (!isInTableScope(builder, tag)) return;
        builder.open.generateImpliedEndTags();
        builder.open.popThrough(tag.name);
        clearToMarker(builder.formatting);
        builder.mode = "in row";
      },
      "body caption col colgroup html": ignore,
      "table tbody tfoot thead tr": endAgainAfter((builder, tag) => isInTableScope(builder, tag) && closeCell(builder)),
    },
    endAsIn("in body"),
  ),
};

function isInTableScope({ open }: TreeBuilder, { name }: Pick<Tag, "name">): boolean {
  return open.hasInScope(name, trait.tableScope);
}

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
  if (!isInTableScope(builder, { name: table })) return false;
  builder.open.popThrough(table);
  builder.resetMode();
  return true;
}

function closeCaption(builder: TreeBuilder): boolean {
  const { open } = builder;
  if (!isInTableScope(builder, { name: caption })) return false;
  open.generateImpliedEndTags();
  open.popThrough(caption);
  clearToMarker(builder.formatting);
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
  if (![tbody, thead, tfoot].some((name) => isInTableScope(builder, { name }))) return false;
  leaveTo(builder, trait.tableBodyContext, "in table");
  return true;
}

function closeRow(builder: TreeBuilder): boolean {
  if (!isInTableScope(builder, { name: tr })) return false;
  leaveTo(builder, trait.tableRowContext, "in table body");
  return true;
}

/** A cell is in scope whenever this mode is on, in a document. */
function closeCell(builder: TreeBuilder): boolean {
  const { open } = builder;
  open.generateImpliedEndTags();
  open.popTo(Math.max(open.indexOf(td), open.indexOf(th), 1));
  clearToMarker(builder.formatting);
  builder.mode = "in row";
  return true;
}
