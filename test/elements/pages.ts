import { readdirSync, readFileSync } from "node:fs";
import { html } from "parse5";
import { isTagOnly } from "../../src/html/document/element-span.ts";
import { forEachNode, nextNode } from "../../src/html/document/html-document.ts";
import { type RootNode, SourceElement, type TreeChild } from "../../src/html/document/html-nodes.ts";
import type { SourceDocument } from "../../src/html/document/source-document.ts";

const directory = new URL("../../node_modules/htmlparser-benchmark/files/", import.meta.url);

/** The 258 pages of the web that the package `htmlparser-benchmark` carries, as they were served. */
export function realPages(): { name: string; bytes: Buffer }[] {
  const names = readdirSync(directory).filter((name) => name.endsWith(".html"));
  return names.sort().map((name) => ({ name: name.slice(0, 8), bytes: readFileSync(new URL(name, directory)) }));
}

/** All elements that a selector can name, in document order. */
export function elementsOf({ root }: Pick<SourceDocument, "root">): SourceElement[] {
  return elementsIn(root);
}

/** The same of a tree. */
export function elementsIn(root: RootNode): SourceElement[] {
  const elements: SourceElement[] = [];
  for (let node = nextNode(root, root); node; node = nextNode(node, root)) {
    if (node instanceof SourceElement) elements.push(node);
  }
  return elements;
}

/** All nodes below a root in document order, those in templates last. */
export function nodesOf(root: RootNode): TreeChild[] {
  const nodes: TreeChild[] = [];
  forEachNode(root, (node) => nodes.push(node));
  return nodes;
}

/** A selector that names one element of a page and no other, by its place. */
export function selectorOf(element: SourceElement): string {
  const steps: string[] = [];
  for (let current: SourceElement | null = element; current; ) {
    const parent: SourceElement | null = current.parent instanceof SourceElement ? current.parent : null;
    const place = parent ? parent.children.filter((node) => node instanceof SourceElement).indexOf(current) + 1 : 0;
    // Names such as `o:p` and `linearGradient` need more than to be written down.
    const name = /^[a-z][a-z0-9]*$/.test(current.name) ? current.name : "*";
    steps.unshift(parent ? `${name}:nth-child(${place})` : ":root");
    current = parent;
  }
  return steps.join(" > ");
}

/** The smallest element that can stand where this one stands. */
export function replacementFor(element: SourceElement): string {
  const { name, namespace } = element;
  return isTagOnly(element) && namespace === html.NS.HTML ? `<${name}>` : `<${name} title="new"></${name}>`;
}

/** Numbers that look random and are the same in every run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
