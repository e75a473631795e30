import { readdirSync, readFileSync, statSync } from "node:fs";
import { html } from "parse5";
import { isTagOnly } from "../../src/html/document/element-span.ts";
import { nextNode, type RootNode, SourceElement, type TreeChild } from "../../src/html/document/html-nodes.ts";
import type { SourceDocument } from "../../src/html/document/source-document.ts";
import { TreeWalk } from "../../src/html/document/tree-walk.ts";
import { sample } from "../helpers/effort.ts";

const directory = new URL("../../node_modules/htmlparser-benchmark/files/", import.meta.url);
const pagesForOneOfTheSample = 16;

/** A page of the web, as it was served. */
export interface RealPage {
  readonly name: string;
  readonly bytes: Buffer;
  /** Its number among all 258. */
  readonly number: number;
}

/** Pages of the package `htmlparser-benchmark`: all 258 in the campaign, otherwise sixteen, from small to large. */
export function realPages(): RealPage[] {
  const names = readdirSync(directory).filter((name) => name.endsWith(".html"));
  const bySize = names.map((name) => ({ name, size: statSync(new URL(name, directory)).size }));
  bySize.sort((a, b) => a.size - b.size || (a.name < b.name ? -1 : 1));
  return sample(
    bySize.map(({ name }, number) => ({ name, number })),
    pagesForOneOfTheSample,
  ).map(({ name, number }) => ({ name: name.slice(0, 8), number, bytes: readFileSync(new URL(name, directory)) }));
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

/** All nodes below a root in the order of a source, those in templates too. */
export function nodesOf(root: RootNode): TreeChild[] {
  const nodes: TreeChild[] = [];
  const walk = new TreeWalk(root);
  while (walk.advance()) if (!walk.isAtEnd) nodes.push(walk.node as TreeChild);
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
