import { elementSpan, isTagOnly } from "../document/element-span.ts";
import { SourceElement, type TreeChild } from "../document/html-nodes.ts";
import { isClosedBy } from "../document/optional-tags.ts";
import type { Fragment } from "./well-formed.ts";

/**
 * The end tags that must stand at `offset` before something is put there, so that it does not end up inside of an element
 * that has no end tag: `</li>` for what is appended to the `ul` of `<ul><li>a</ul>`. `node` ends at the offset. Nothing is
 * needed where the first tag that follows closes those elements by itself.
 */
export function endTagsAt(node: TreeChild | null | undefined, offset: number, firstTag?: string): string {
  const open: string[] = [];
  for (let current = node; current instanceof SourceElement; current = current.children.at(-1)) {
    const span = elementSpan(current);
    // An implied `tbody` has no tags of its own; the `tr` in it may be open.
    if (!span) continue;
    if (isTagOnly(current) || span.end !== offset || span.contentEnd !== offset) break;
    open.push(current.name);
  }
  if (firstTag !== undefined && open.every((name) => isClosedBy(name, firstTag))) return "";
  return open
    .map((name) => `</${name}>`)
    .reverse()
    .join("");
}

/** Name of the start tag with which HTML begins, if it begins with one. */
export function firstTagOf({ tags: [tag] }: Pick<Fragment, "tags">): string | undefined {
  return tag?.start === 0 ? tag.name : undefined;
}
