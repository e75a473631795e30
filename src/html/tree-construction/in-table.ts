import type { TagName } from "../tokenizer/tokens.ts";
import { isHiddenInput } from "./in-body.ts";
import { clearToMarker, marker } from "./open-elements.ts";
import type { ModeInTable, ModeName } from "./parser-state.ts";
import { tagsNamed, trait } from "./tags.ts";
import { blanksOf, splitBlanks, type TextRun } from "./text-run.ts";
import {
  againAfter,
  asIn,
  type InsertionModes,
  ignore,
  ruleTable,
  type TagRule,
  type TreeBuilder,
} from "./tree-builder.ts";

// HTML Standard, 13.2.6.4.9 to 13.2.6.4.15.

const { caption, colgroup, table, tbody, td, template, tfoot, th, thead, tr } = tagsNamed(
  "caption colgroup table tbody td template tfoot th thead tr",
);

const tableParts = "caption col colgroup tbody td tfoot th thead tr";

/** What does not belong into a table is processed as in the body, but goes before the table. */
function fostering<Token>(work: (builder: TreeBuilder, token: Token) => void) {
  return (builder: TreeBuilder, token: Token): void => {
    builder.fosters = true;
    work(builder, token);
    builder.fosters = false;
  };
}

const fosterTag = fostering(asIn("in body"));
const fosterText = fostering<TextRun>((builder, run) => builder.insertContentText(run));

function tableText(builder: TreeBuilder, run: TextRun): void {
  if (builder.open.currentHas(trait.fosters)) builder.addTableText(run);
  else fosterText(builder, run);
}

export const modesInTable: InsertionModes<ModeInTable> = {
  "in table": {
    text: tableText,
    startTags: ruleTable(
      {
        caption: openingApart(trait.tableScope, "in caption"),
        colgroup: opening(trait.tableScope, "in column group"),
        col: implying(colgroup, trait.tableScope, "in column group"),
        "tbody tfoot thead": opening(trait.tableScope, "in table body"),
        "td th tr": implying(tbody, trait.tableScope, "in table body"),
        table: againAfter(closeTable),
        "style script template": asIn("in head"),
        input(builder, tag) {
          if (isHiddenInput(builder, tag)) builder.insertVoid(tag);
          else fosterTag(builder, tag);
        },
        form(builder, tag) {
          if (builder.form || builder.open.has(template)) return;
          builder.form = builder.insertElement(tag);
          builder.open.pop();
        },
      },
      fosterTag,
    ),
    endTags: ruleTable(
      {
        table: closeTable,
        [`${tableParts} body html`]: ignore,
        template: asIn("in head"),
      },
      fosterTag,
    ),
  },

  "in caption": {
    startTags: ruleTable({ [tableParts]: againAfter(closeCaption) }, asIn("in body")),
    endTags: ruleTable(
      {
        caption: closeCaption,
        table: againAfter(closeCaption),
        "body col colgroup html tbody td tfoot th thead tr": ignore,
      },
      asIn("in body"),
    ),
  },

  "in column group": {
    startTags: ruleTable(
      {
        html: asIn("in body"),
        col: (builder, tag) => builder.insertVoid(tag),
        template: asIn("in head"),
      },
      againAfter(leaveColumnGroup),
    ),
    endTags: ruleTable(
      {
        colgroup: leaveColumnGroup,
        col: ignore,
        template: asIn("in head"),
      },
      againAfter(leaveColumnGroup),
    ),
    text(builder, run) {
      const isInGroup = builder.open.currentTag === colgroup; // not directly in a template
      const [blanks, rest] = isInGroup ? splitBlanks(run, builder.source) : [blanksOf(run), undefined];
      if (blanks) builder.insertText(blanks);
      if (rest && leaveColumnGroup(builder)) builder.processText(rest); // the table fosters all of the text, or nothing
    },
  },

  "in table body": {
    text: tableText,
    startTags: ruleTable(
      {
        tr: opening(trait.tableBodyContext, "in row"),
        "th td": implying(tr, trait.tableBodyContext, "in row"),
        "caption col colgroup tbody tfoot thead": againAfter(closeTableBody),
      },
      asIn("in table"),
    ),
    endTags: ruleTable(
      {
        "tbody tfoot thead"(builder, tag) {
          if (isInTableScope(builder, tag.name)) leaveTo(builder, trait.tableBodyContext, "in table");
        },
        table: againAfter(closeTableBody),
        "body caption col colgroup html td th tr": ignore,
      },
      asIn("in table"),
    ),
  },

  "in row": {
    text: tableText,
    startTags: ruleTable(
      {
        "th td": openingApart(trait.tableRowContext, "in cell"),
        "caption col colgroup tbody tfoot thead tr": againAfter(closeRow),
      },
      asIn("in table"),
    ),
    endTags: ruleTable(
      {
        tr: closeRow,
        table: againAfter(closeRow),
        "tbody tfoot thead": againAfter((builder, { name }) => isInTableScope(builder, name) && closeRow(builder)),
        "body caption col colgroup html td th": ignore,
      },
      asIn("in table"),
    ),
  },

  "in cell": {
    startTags: ruleTable({ [tableParts]: againAfter(closeCell) }, asIn("in body")),
    endTags: ruleTable(
      {
        "td th"(builder, tag) {
          if (builder.open.popInScope(tag.name, trait.tableScope)) leaveApart(builder, "in row");
        },
        "body caption col colgroup html": ignore,
        "table tbody tfoot thead tr": againAfter(
          (builder, { name }) => isInTableScope(builder, name) && closeCell(builder),
        ),
      },
      asIn("in body"),
    ),
  },
};

function isInTableScope({ open }: TreeBuilder, name: TagName): boolean {
  return open.hasInScope(name, trait.tableScope);
}

/** A start tag of a part of a table, which ends other parts. */
function opening(context: number, mode: ModeName): TagRule {
  return (builder, tag) => {
    builder.open.clearTo(context);
    builder.insertElement(tag);
    builder.mode = mode;
  };
}

/** One of a part that formatting from outside does not reach into. */
function openingApart(context: number, mode: ModeName): TagRule {
  const open = opening(context, mode);
  return (builder, tag) => {
    open(builder, tag);
    builder.formatting.push(marker);
  };
}

function leaveApart(builder: TreeBuilder, mode: ModeName): void {
  clearToMarker(builder.formatting);
  builder.mode = mode;
}

/** A start tag before which another one was left out, such as `<tr>` before `<td>`. */
function implying(name: TagName, context: number, mode: ModeName): TagRule {
  return (builder, tag) => {
    builder.open.clearTo(context);
    builder.insertImplied(name);
    builder.mode = mode;
    builder.processTag(tag);
  };
}

/** Closes what is open in a part of a table, and that part. */
function leaveTo(builder: TreeBuilder, context: number, mode: ModeName): void {
  builder.open.clearTo(context);
  builder.open.pop();
  builder.mode = mode;
}

function closeTable(builder: TreeBuilder): boolean {
  const isClosed = builder.open.popInScope(table, trait.tableScope);
  if (isClosed) builder.resetMode();
  return isClosed;
}

function closeCaption(builder: TreeBuilder): boolean {
  const isClosed = builder.open.popInScope(caption, trait.tableScope);
  if (isClosed) leaveApart(builder, "in table");
  return isClosed;
}

function leaveColumnGroup(builder: TreeBuilder): boolean {
  if (builder.open.currentTag !== colgroup) return false;
  builder.open.pop();
  builder.mode = "in table";
  return true;
}

function closeTableBody(builder: TreeBuilder): boolean {
  if (![tbody, thead, tfoot].some((name) => isInTableScope(builder, name))) return false;
  leaveTo(builder, trait.tableBodyContext, "in table");
  return true;
}

function closeRow(builder: TreeBuilder): boolean {
  if (!isInTableScope(builder, tr)) return false;
  leaveTo(builder, trait.tableRowContext, "in table body");
  return true;
}

/** A cell is in scope whenever this mode is on, in a document. */
function closeCell(builder: TreeBuilder): void {
  const { open } = builder;
  open.popTo(Math.max(open.indexOf(td), open.indexOf(th), 1));
  leaveApart(builder, "in row");
}
