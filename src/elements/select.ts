import { compile, type Options } from "css-select";
import { type Selector, SelectorType } from "css-what";
import { LRUCache } from "lru-cache";
import { selectorCandidates } from "../http/selector-range.ts";
import { HttpError } from "../http-error.ts";
import { type HtmlDocument, nextNode } from "./html-document.ts";
import { SourceElement, TextNode, type TreeNode } from "./html-nodes.ts";
import { statePseudoClasses } from "./selector-names.ts";
import { parseSelector } from "./selector-parser.ts";

/** A selector ready to be asked of elements, in standards mode and in quirks mode. */
export interface CompiledSelector {
  matches(element: SourceElement, mode: "standards" | "quirks"): boolean;
}

type Matcher = (element: TreeNode) => boolean;

/** Pages ask for the same selectors again and again; the number bounds what strangers can fill the memory with. */
const compiled = new LRUCache<string, CompiledSelector>({ max: 500 });

/** css-select's own `:empty` takes white space for nothing, which browsers do not. */
const pseudos: Readonly<Record<string, (element: SourceElement) => boolean>> = {
  ...Object.fromEntries([...statePseudoClasses].map((name) => [name, () => false])),
  empty: ({ children }) => children.every((child) => !(child instanceof SourceElement || child instanceof TextNode)),
};

/** How css-select looks at the tree. */
const adapter: NonNullable<Options<TreeNode, SourceElement>["adapter"]> = {
  isTag: (node) => node instanceof SourceElement,
  getName: ({ name }) => name,
  getAttributeValue: ({ attribs }, name) => attribs[name],
  hasAttrib: ({ attribs }, name) => attribs[name] !== undefined,
  getChildren: (node) => ("children" in node ? node.children : []),
  getParent: ({ parent }) => parent,
  getSiblings: (node) => node.parent?.children ?? [node],
  prevElementSibling: previousElement,
  getText: (node) => ("data" in node ? node.data : ""),
  removeSubsets: (nodes) => nodes,
};

/** Prepares a selector. Throws 400 `INVALID_SELECTOR` for what a browser's `querySelectorAll` throws on. */
export function compileSelector(selector: string): CompiledSelector {
  const known = compiled.get(selector);
  if (known) return known;
  const matcher = newMatcher(readableForm(selector));
  compiled.set(selector, matcher);
  return matcher;
}

/** The elements that `document.querySelectorAll(selector)` gives in a browser, in document order. */
export function selectElements({ root }: HtmlDocument, selector: CompiledSelector): SourceElement[] {
  const mode = root.mode === "quirks" ? "quirks" : "standards";
  const elements: SourceElement[] = [];
  for (let node = nextNode(root, root); node; node = nextNode(node, root)) {
    if (node instanceof SourceElement && selector.matches(node, mode)) elements.push(node);
  }
  return elements;
}

/** The text as it stands, or percent-decoded where only that parses. */
function readableForm(selector: string): string {
  let firstError: unknown;
  for (const text of selectorCandidates(selector)) {
    try {
      parseSelector(text);
      return text;
    } catch (error) {
      firstError ??= error;
    }
  }
  throw firstError;
}

function newMatcher(text: string): CompiledSelector {
  const matchers: Partial<Record<"standards" | "quirks", Matcher>> = {};
  const matcherOf = (mode: "standards" | "quirks"): Matcher => {
    matchers[mode] ??= compileMatcher(text, mode === "quirks");
    return matchers[mode];
  };
  matcherOf("standards"); // So that what css-select refuses is known before a document is read.
  return { matches: (element, mode) => matcherOf(mode)(element) };
}

function compileMatcher(text: string, quirksMode: boolean): Matcher {
  // css-select sorts and rewrites the tree it is given, and writes into the options: both are made anew each time.
  const selectors = parseSelector(text).filter((selector) => !selector.some(isPseudoElement));
  // Results are not cached: the compiled selector outlives the document.
  const options: Options<TreeNode, SourceElement> = {
    adapter,
    quirksMode,
    cacheResults: false,
    pseudos: { ...pseudos },
  };
  try {
    return compile<TreeNode, SourceElement>(selectors, options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HttpError(400, "INVALID_SELECTOR", `The selector is not supported: ${reason}.`, { cause: error });
  }
}

function previousElement({ prev }: TreeNode): SourceElement | null {
  let node = prev;
  while (node && !(node instanceof SourceElement)) node = node.prev;
  return node;
}

/** A pseudo-element is no element, so that a selector that ends in one selects nothing. */
function isPseudoElement({ type }: Selector): boolean {
  return type === SelectorType.PseudoElement;
}
