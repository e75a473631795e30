import { modeOf } from "../tokenizer/doctype.ts";
import type { Tag } from "../tokenizer/tokens.ts";
import type { ModeName } from "./parser-state.ts";
import { tagNamed, trait } from "./tags.ts";
import { splitBlanks } from "./text-run.ts";
import {
  type InsertionMode,
  ignore,
  insertComment,
  ruleTable,
  type TagRule,
  type TreeBuilder,
} from "./tree-builder.ts";

// HTML Standard, 13.2.6.4.1 to 13.2.6.4.6: from the doctype to the first content.

interface EarlyMode extends Pick<InsertionMode, "comment" | "doctype"> {
  /** What any other token does, before the next mode processes it. */
  leave(builder: TreeBuilder): void;
  readonly startTags: Readonly<Record<string, TagRule>>;
  readonly endTags: Readonly<Record<string, TagRule>>;
  /** Whether end tags are ignored but those of the parts of a page, and `</br>`. */
  readonly ignoresEndTags: boolean;
  /** Whether white space is content, not just ignored. */
  readonly keepsBlanks?: boolean;
}

const html = tagNamed("html");
const head = tagNamed("head");
const body = tagNamed("body");
const template = tagNamed("template");

export const initial: InsertionMode = earlyMode({
  leave(builder) {
    builder.root["x-mode"] = "quirks"; // there is no doctype
    builder.mode = "before html";
  },
  startTags: {},
  endTags: {},
  ignoresEndTags: false,
  comment: commentInDocument,
  doctype(builder, doctype, start, end) {
    builder.insertDoctype(doctype.name ?? "", doctype.publicId ?? "", doctype.systemId ?? "", start, end);
    builder.root["x-mode"] = modeOf(doctype);
    builder.mode = "before html";
  },
});

export const beforeHtml: InsertionMode = earlyMode({
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
  endTags: {},
  ignoresEndTags: true,
  comment: commentInDocument,
});

export const beforeHead: InsertionMode = earlyMode({
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
  endTags: {},
  ignoresEndTags: true,
  comment: insertComment,
});

/** Text of a page's title, script, style: also where they stand in the body. */
const headContent = {
  "base basefont bgsound link meta": (builder: TreeBuilder, tag: Tag) => builder.insertVoid(tag),
  title: (builder: TreeBuilder, tag: Tag) => builder.insertTextElement(tag, "rcdata"),
  "noscript noframes style": (builder: TreeBuilder, tag: Tag) => builder.insertTextElement(tag, "rawtext"),
  script: (builder: TreeBuilder, tag: Tag) => builder.insertTextElement(tag, "script"),
  template(builder: TreeBuilder, tag: Tag) {
    builder.insertElement(tag);
    builder.formatting.pushMarker();
    builder.framesetOk = false;
    builder.mode = "in template";
    builder.templateModes.push("in template");
  },
};

export const inHead: InsertionMode = earlyMode({
  leave(builder) {
    builder.open.pop();
    builder.mode = "after head";
  },
  startTags: { html: asIn("in body"), ...headContent, head: ignore },
  endTags: {
    head(builder) {
      builder.open.pop();
      builder.mode = "after head";
    },
    template: endTemplate,
  },
  ignoresEndTags: true,
  keepsBlanks: true,
  comment: insertComment,
});

export const afterHead: InsertionMode = earlyMode({
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
      builder.open.push(element, head);
      builder.startTagIn("in head", tag);
      builder.open.forget(element, head);
    },
    head: ignore,
  },
  endTags: { template: endTemplate, head: ignore },
  ignoresEndTags: true,
  keepsBlanks: true,
  comment: insertComment,
});

/** `</template>`: also one that is not the current node. */
export function endTemplate(builder: TreeBuilder): void {
  const { open } = builder;
  if (!open.has(template)) return;
  open.generateImpliedEndTags(undefined, trait.impliedEndThoroughly);
  open.popThrough(template);
  builder.formatting.clearToMarker();
  builder.templateModes.pop();
  builder.resetMode();
}

function earlyMode({
  leave,
  startTags,
  endTags,
  ignoresEndTags,
  keepsBlanks = false,
  ...others
}: EarlyMode): InsertionMode {
  const startAgain: TagRule = (builder, tag) => {
    leave(builder);
    builder.processStartTag(tag);
  };
  const endAgain: TagRule = (builder, tag) => {
    leave(builder);
    builder.processEndTag(tag);
  };
  return {
    ...others,
    startTags: ruleTable(startTags, startAgain),
    endTags: ignoresEndTags
      ? ruleTable({ "head body html br": endAgain, ...endTags }, ignore)
      : ruleTable(endTags, endAgain),
    splitsText: true,
    text(builder, run) {
      const [blanks, rest] = splitBlanks(run, builder.source);
      if (blanks && keepsBlanks) builder.insertText(blanks);
      if (!rest) return;
      leave(builder);
      builder.processTextAgain(rest);
    },
    end(builder) {
      leave(builder);
      builder.processEnd();
    },
  };
}

function asIn(mode: ModeName): TagRule {
  return (builder, tag) => builder.startTagIn(mode, tag);
}

function commentInDocument(builder: TreeBuilder, data: string, start: number, end: number): void {
  builder.insertComment(data, start, end, builder.root);
}

/** HTML Standard, 13.2.6.4.16: what a `template` begins with says what it is content of. */
export const inTemplate: InsertionMode = {
  startTags: ruleTable(
    {
      "base basefont bgsound link meta noframes script style template title": (builder, tag) =>
        builder.startTagIn("in head", tag),
      "caption colgroup tbody tfoot thead": becoming("in table"),
      col: becoming("in column group"),
      tr: becoming("in table body"),
      "td th": becoming("in row"),
    },
    becoming("in body"),
  ),
  endTags: ruleTable({ template: (builder, tag) => builder.endTagIn("in head", tag) }, ignore),
  text: (builder, run) => builder.insertContentText(run),
  comment: insertComment,
  end(builder) {
    if (!builder.open.has(template)) {
      builder.stop();
      return;
    }
    builder.open.popThrough(template);
    builder.formatting.clearToMarker();
    builder.templateModes.pop();
    builder.resetMode();
    builder.processEnd();
  },
};

function becoming(mode: ModeName): TagRule {
  return (builder, tag) => {
    builder.templateModes.pop();
    builder.templateModes.push(mode);
    builder.mode = mode;
    builder.processStartTag(tag);
  };
}
