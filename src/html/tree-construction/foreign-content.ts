import { htmlNamespace, mathNamespace, svgElementName } from "../document/html-names.ts";
import { readAttributes } from "../tokenizer/attributes.ts";
import type { Tag } from "../tokenizer/tokens.ts";
import { isHtmlIntegrationPoint, isTextIntegrationPoint } from "./tags.ts";
import { isBlankText } from "./text-run.ts";
import { type InsertionMode, ruleTable, type TreeBuilder } from "./tree-builder.ts";

/** HTML Standard, 13.2.6.5: within SVG and MathML. */
export const foreignContent: InsertionMode = {
  startTags: ruleTable(
    {
      [`b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol
        p pre ruby s small span strong strike sub sup table tt u ul var`]: leave,
      font(builder, tag) {
        const attributes = readAttributes(builder.source, tag.start);
        const isHtml = ["color", "face", "size"].some((name) => attributes[name] !== undefined);
        (isHtml ? leave : insertForeign)(builder, tag);
      },
    },
    insertForeign,
  ),
  endTags: ruleTable({ "br p": leave }, closeForeign),
  text(builder, run) {
    builder.insertText(run);
    if (!isBlankText(run)) builder.framesetOk = false;
  },
};

function insertForeign(builder: TreeBuilder, tag: Tag): void {
  builder.insertForeign(tag, builder.current?.namespace ?? mathNamespace);
}

/** A tag of HTML ends what is open of SVG and MathML. */
function leave(builder: TreeBuilder, tag: Tag): void {
  const { open } = builder;
  for (let { current } = open; current && current.namespace !== htmlNamespace; { current } = open) {
    if (isTextIntegrationPoint(current) || isHtmlIntegrationPoint(current)) break;
    open.pop();
  }
  builder.processTagIn(builder.mode, tag);
}

/** Ends the innermost element of that name, in any case, unless an element of HTML is open within that. */
function closeForeign(builder: TreeBuilder, tag: Tag): void {
  const { open } = builder;
  const { name } = tag.name;
  const svgName = svgElementName(name);
  for (let index = open.length - 1; index > 0; index -= 1) {
    const element = open.elementAt(index);
    if (!element || element.namespace === htmlNamespace) break;
    if (element.name === name || element.name === svgName) {
      open.popTo(index);
      return;
    }
  }
  builder.processTagIn(builder.mode, tag);
}
