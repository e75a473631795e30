import { hasEndTag } from "../document/element-span.ts";
import { endTemplate } from "./before-body.ts";
import { closeInScope, closeParagraph, endAnyOther, endFormatting } from "./closing.ts";
import { ruleTable } from "./rule-table.ts";
import { tagsNamed } from "./tags.ts";
import type { TagRule, TreeBuilder } from "./tree-builder.ts";

const { body, br, form, li, p, template, h1, h2, h3, h4, h5, h6 } = tagsNamed(
  ...(["body", "br", "form", "li", "p", "template", "h1", "h2", "h3", "h4", "h5", "h6"] as const),
);

/** End tags "in body" (HTML Standard, 13.2.6.4.7). */
export const inBodyEndTags: readonly TagRule[] = ruleTable(
  {
    template: endTemplate,
    body(builder) {
      if (!builder.open.hasInScope(body)) return;
      builder.mode = "after body";
      const element = builder.open.elementAt(1);
      if (element && builder.open.tagAt(1) === body) builder.markEnd(element);
    },
    html(builder, tag) {
      if (!builder.open.hasInScope(body)) return;
      builder.mode = "after body";
      builder.processEndTag(tag);
    },
    [`address article aside blockquote button center details dialog dir div dl fieldset figcaption figure footer header hgroup
      listing main menu nav ol pre search section select summary ul`]: closeInScope,
    form: endForm,
    p(builder) {
      if (!builder.open.hasInScope(p, "buttonScope")) builder.insertImplied(p);
      closeParagraph(builder);
    },
    li({ open }) {
      if (!open.hasInScope(li, "listItemScope")) return;
      open.generateImpliedEndTags(li);
      open.popThrough(li);
    },
    "dd dt"({ open }, { name }) {
      if (!open.hasInScope(name)) return;
      open.generateImpliedEndTags(name);
      open.popThrough(name);
    },
    "h1 h2 h3 h4 h5 h6"({ open }) {
      const topmost = Math.max(...[h1, h2, h3, h4, h5, h6].map((heading) => open.indexOf(heading)));
      if (topmost < 0 || topmost < open.topmostWith("scope")) return;
      open.generateImpliedEndTags();
      open.popTo(topmost);
    },
    "a b big code em font i nobr s small strike strong tt u": endFormatting,
    "applet marquee object"(builder, tag) {
      if (closeInScope(builder, tag)) builder.formatting.clearToMarker();
    },
    br(builder) {
      builder.reconstructFormatting();
      builder.insertImplied(br);
      builder.open.pop();
      builder.framesetOk = false;
    },
  },
  endAnyOther,
);

/** `</html>` behind the body. */
export function endPage(builder: TreeBuilder): void {
  const { open } = builder;
  builder.mode = "after after body";
  const html = open.elementAt(0);
  const second = open.elementAt(1);
  if (html) builder.markEnd(html);
  if (second && !hasEndTag(second)) builder.markEnd(second);
}

function endForm(builder: TreeBuilder): void {
  const { open } = builder;
  if (open.has(template)) {
    closeInScope(builder, { name: form });
    return;
  }
  const element = builder.form;
  builder.form = undefined;
  const index = element ? open.indexOfElement(element, form) : -1;
  if (!element || index < 0 || index < open.topmostWith("scope")) return;
  open.generateImpliedEndTags();
  open.remove(element, form);
}
