import { modeOf } from "../tokenizer/doctype.ts";
import { marker } from "./open-elements.ts";
import type { ModeBeforeBody, ModeName } from "./parser-state.ts";
import { tagsNamed } from "./tags.ts";
import { splitBlanks } from "./text-run.ts";
import {
  againAfter,
  asIn,
  commentInDocument,
  type InsertionMode,
  type InsertionModes,
  ignore,
  ruleTable,
  type TagRule,
  type TreeBuilder,
} from "./tree-builder.ts";
import { startOf } from "./tree-writer.ts";

// HTML Standard, 13.2.6.4.1 to 13.2.6.4.6: from the doctype to the first content.

interface EarlyMode extends Pick<InsertionMode, "comment" | "doctype"> {
  /** What any other token does, before the next mode processes it. */
  leave(builder: TreeBuilder): void;
  readonly startTags?: Readonly<Record<string, TagRule>>;
  readonly endTags?: Readonly<Record<string, TagRule>>;
  /** What other end tags do than those of the parts of a page and `</br>`. @default nothing */
  readonly otherEndTag?: "leave";
  /** Whether white space is content, not just ignored. */
  readonly keepsBlanks?: boolean;
}

const { body, head, html, template } = tagsNamed("body head html template");

/** Text of a page's title, script, style: also where they stand in the body. */
const headContent: Readonly<Record<string, TagRule>> = {
  "base basefont bgsound link meta": (builder, tag) => builder.insertVoid(tag),
  title: (builder, tag) => builder.insertTextElement(tag, "rcdata"),
  "noscript noframes style": (builder, tag) => builder.insertTextElement(tag, "rawtext"),
  script: (builder, tag) => builder.insertTextElement(tag, "script"),
  template(builder, tag) {
    builder.insertElement(tag);
    builder.formatting.push(marker);
    builder.framesetOk = false;
    builder.mode = "in template";
    builder.templateModes.push("in template");
  },
};

export const modesBeforeBody: InsertionModes<ModeBeforeBody> = {
  initial: earlyMode({
    leave(builder) {
      builder.root.mode = "quirks"; // there is no doctype
      builder.mode = "before html";
    },
    otherEndTag: "leave",
    comment: commentInDocument,
    doctype(builder, doctype, start, end) {
      builder.insertDoctype(doctype.name ?? "", doctype.publicId ?? "", doctype.systemId ?? "", start, end);
      builder.root.mode = modeOf(doctype);
      builder.mode = "before html";
    },
  }),

  "before html": earlyMode({
    leave(builder) {
      builder.insertImplied(html);
      builder.mode = "before head";
    },
    startTags: {
      html(builder, tag) {
        builder.insertElement(tag);
        builder.mode = "before head";
      },
    },
    comment: commentInDocument,
  }),

  "before head": earlyMode({
    leave(builder) {
      builder.head = builder.insertImplied(head);
      builder.mode = "in head";
    },
    startTags: {
      html: asIn("in body"),
      head(builder, tag) {
        builder.head = builder.insertElement(tag);
        builder.mode = "in head";
      },
    },
  }),

  "in head": earlyMode({
    leave: leaveHead,
    startTags: { html: asIn("in body"), ...headContent, head: ignore },
    endTags: {
      head: leaveHead,
      template(builder) {
        if (builder.open.has(template)) builder.leaveTemplate(); // also one that is not the current node
      },
    },
    keepsBlanks: true,
  }),

  "after head": earlyMode({
    leave(builder) {
      builder.insertImplied(body);
      builder.mode = "in body";
    },
    startTags: {
      html: asIn("in body"),
      body(builder, tag) {
        builder.insertElement(tag);
        builder.framesetOk = false;
        builder.mode = "in body";
      },
      frameset(builder, tag) {
        builder.insertElement(tag);
        builder.mode = "in frameset";
      },
      "base basefont bgsound link meta noframes script style template title"(builder, tag) {
        const { head: element } = builder;
        if (!element) return;
        builder.forgetStatesBehind(startOf(element));
        builder.open.push(element, head);
        builder.processTagIn("in head", tag);
        builder.open.forget(element);
      },
      head: ignore,
    },
    endTags: { template: asIn("in head"), head: ignore },
    keepsBlanks: true,
  }),

  /** HTML Standard, 13.2.6.4.16: what a `template` begins with says what it is content of. */
  "in template": {
    startTags: ruleTable(
      {
        "base basefont bgsound link meta noframes script style template title": asIn("in head"),
        "caption colgroup tbody tfoot thead": becoming("in table"),
        col: becoming("in column group"),
        tr: becoming("in table body"),
        "td th": becoming("in row"),
      },
      becoming("in body"),
    ),
    endTags: ruleTable({ template: asIn("in head") }),
  },
};

function leaveHead(builder: TreeBuilder): void {
  builder.open.pop();
  builder.mode = "after head";
}

function earlyMode({
  leave,
  startTags = {},
  endTags = {},
  otherEndTag,
  keepsBlanks,
  ...others
}: EarlyMode): InsertionMode {
  const again = againAfter(leave);
  return {
    ...others,
    startTags: ruleTable(startTags, again),
    endTags: ruleTable({ "head body html br": again, ...endTags }, otherEndTag === "leave" ? again : ignore),
    text(builder, run) {
      const [blanks, rest] = splitBlanks(run, builder.source);
      if (blanks && keepsBlanks) builder.insertText(blanks);
      if (!rest) return;
      leave(builder);
      builder.processText(rest);
    },
    end(builder) {
      leave(builder);
      builder.processEnd();
    },
  };
}

function becoming(mode: ModeName): TagRule {
  return (builder, tag) => {
    builder.templateModes.pop();
    builder.templateModes.push(mode);
    builder.mode = mode;
    builder.processTag(tag);
  };
}
