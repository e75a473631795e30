import { type RootNode, SourceElement } from "./html-nodes.ts";

/** `html`, `head` and `body` of a page; one with a `frameset` has no `body`. */
export function pageElements(root: RootNode): Partial<Record<"html" | "head" | "body", SourceElement>> {
  const html = root.children.find((node) => node instanceof SourceElement);
  const found: Partial<Record<"html" | "head" | "body", SourceElement>> = html ? { html } : {};
  for (const node of html?.children ?? []) {
    if (!(node instanceof SourceElement)) continue;
    if (node.name === "head") found.head ??= node;
    if (node.name === "body") found.body ??= node;
  }
  return found;
}
