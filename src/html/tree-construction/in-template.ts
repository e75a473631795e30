import { insertContentText } from "./in-body.ts";
import { ignore, insertComment, ruleTable } from "./rule-table.ts";
import { tagNamed } from "./tags.ts";
import type { InsertionMode, ModeName, TagRule } from "./tree-builder.ts";

const template = tagNamed("template");

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
  text: insertContentText,
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
