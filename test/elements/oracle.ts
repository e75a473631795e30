import { isUtf8 } from "node:buffer";
import {
  type DefaultTreeAdapterTypes,
  defaultTreeAdapter,
  html as markup,
  Parser,
  type ParserOptions,
  parse,
  type Token,
} from "parse5";

type Node = DefaultTreeAdapterTypes.Node;
type ChildNode = DefaultTreeAdapterTypes.ChildNode;
type ParentNode = DefaultTreeAdapterTypes.ParentNode;
type Element = DefaultTreeAdapterTypes.Element;
type TextNode = DefaultTreeAdapterTypes.TextNode;
type Document = DefaultTreeAdapterTypes.Document;
type NodeTypes = DefaultTreeAdapterTypes.DefaultTreeAdapterMap;

export type EditMethod = "PUT" | "POST" | "DELETE";

const { TABLE, TBODY, TEMPLATE, TFOOT, THEAD } = markup.TAG_ID;
/** What parse5 calls the insertion mode "in row". */
const inRow = 13;

/** parse5 where browsers read a page otherwise. */
class BrowserParser extends Parser<NodeTypes> {
  /** Of a table, nothing is in scope from within a template in it; parse5 lets `</table>` there end the table. */
  constructor(...of: ConstructorParameters<typeof Parser<NodeTypes>>) {
    super(...of);
    const { openElements } = this;
    const topmost = (name: markup.TAG_ID): number => openElements.tagIDs.lastIndexOf(name, openElements.stackTop);
    const isInScope = (name: markup.TAG_ID): boolean =>
      topmost(name) > Math.max(topmost(TEMPLATE), name === TABLE ? -1 : topmost(TABLE));
    openElements.hasInTableScope = isInScope;
    openElements.hasTableBodyContextInTableScope = () => [TBODY, TFOOT, THEAD].some(isInScope);
  }

  /** In a row, `</thead>` means nothing where no `thead` is open; parse5 lets it end the row. */
  override _endTagOutsideForeignContent(token: Token.TagToken): void {
    const isOfGroup = [TBODY, TFOOT, THEAD].includes(token.tagID);
    if (this.insertionMode === inRow && isOfGroup && !this.openElements.hasInTableScope(token.tagID)) return;
    super._endTagOutsideForeignContent(token);
  }

  /** To parse5, as to the standard, a NUL begins the `body`; browsers do not see it. */
  override onNullCharacter(token: Token.CharacterToken): void {
    if (this.tokenizer.inForeignNode) super.onNullCharacter(token);
  }
}

/** An edit of the elements that have these places in document order. */
export interface AskedEdit {
  readonly method: EditMethod;
  readonly elements: readonly number[];
  readonly html: string;
}

/**
 * What a page must read as after an edit, in the steps of its tree; made with parse5 alone, none of the server's code.
 * There can be several: a row goes to a table, or to the `tbody` that the parser has put into it; a cell, to the `tr` there;
 * and white space before the end of `body` may stay before what is added behind it.
 */
export function expectedReadings(page: Uint8Array, edit: AskedEdit): string[] {
  return [0, 1, 2].flatMap((levels) => {
    const document = pageTree(page);
    const elements = elementsOf(document);
    const chosen = edit.elements.map((index) => elements[index]).filter((element) => element !== undefined);
    if (edit.method === "POST" && edit.html.trim() === "") return [steps(document, textOf(page))];
    if (edit.method === "POST") for (const element of chosen) append(element, edit.html, levels, elements);
    else for (const element of chosen) if (!hasAncestorIn(element, chosen)) replace(element, edit);
    return [false, true].map((keepsBlanksBefore) => steps(document, textOf(page), keepsBlanksBefore));
  });
}

/** What a page reads as. */
export function reading(page: Uint8Array): string {
  return steps(pageTree(page), textOf(page));
}

/** All elements in document order, without those in templates. */
function elementsOf(document: Document): Element[] {
  const elements: Element[] = [];
  const stack: Node[] = [document];
  for (let node = stack.pop(); node; node = stack.pop()) {
    if ("tagName" in node) elements.push(node);
    if ("childNodes" in node) stack.push(...[...node.childNodes].reverse());
  }
  return elements;
}

function hasAncestorIn(element: Element, elements: readonly Element[]): boolean {
  for (let parent = element.parentNode; parent; parent = "parentNode" in parent ? parent.parentNode : null) {
    if (elements.includes(parent as Element)) return true;
  }
  return false;
}

function replace(element: Element, { method, html }: AskedEdit): void {
  const parent = element.parentNode;
  if (!parent) throw new Error("an element without a parent");
  if (method === "PUT") {
    for (const node of fragmentIn(parent, element, html)) defaultTreeAdapter.insertBefore(parent, node, element);
  }
  defaultTreeAdapter.detachNode(element);
}

function append(element: Element, html: string, levels: number, all: readonly Element[]): void {
  const body = all.find(({ tagName, parentNode }) => tagName === "body" && parentNode === all[0]);
  let target = element === all[0] && body ? body : element;
  for (let level = 0; level < levels; level += 1) {
    const last = target.childNodes.at(-1);
    if (last && "tagName" in last && !last.sourceCodeLocation?.startTag) target = last;
  }
  const container = "content" in target ? (target.content as ParentNode) : target;
  // What stands in a template before it can make the parser read rows as it does in a table.
  const context =
    container !== target && levels === 1 ? defaultTreeAdapter.createElement("table", markup.NS.HTML, []) : target;
  for (const node of fragmentIn(context, undefined, html)) defaultTreeAdapter.appendChild(container, node);
}

/** The nodes that HTML becomes in an element: what `innerHTML` would make of it. */
function fragmentIn(parent: Node, replaced: Element | undefined, html: string): ChildNode[] {
  const name = replaced?.tagName;
  if (name && ["html", "head", "body", "frameset"].includes(name)) return pageElement(html);
  const options = { treeAdapter: { ...defaultTreeAdapter, getDocumentMode: () => modeOf(parent) } };
  if (!("tagName" in parent)) return fragment(null, html, options);
  if (!("content" in parent)) return fragment(parent, html, options);
  // In a template, which `innerHTML` knows nothing of, forms may nest.
  const [template] = fragment(null, `<template>${html}</template>`);
  return template && "content" in template ? [...template.content.childNodes] : [];
}

function fragment(context: ParentNode | null, html: string, options?: ParserOptions<NodeTypes>): ChildNode[] {
  const parser = BrowserParser.getFragmentParser(context, options);
  parser.tokenizer.write(html, true);
  return [...parser.getFragment().childNodes];
}

/** In quirks mode, a `table` does not end a `p`; parse5 does not ask what document a fragment is for. */
function modeOf(node: Node): Document["mode"] {
  let root = node;
  while ("parentNode" in root && root.parentNode) root = root.parentNode;
  return "mode" in root ? root.mode : ("no-quirks" as never);
}

/** `html`, `head` and `body` are made by parsing a page only. */
function pageElement(html: string): ChildNode[] {
  const [, name = ""] = /<([a-z]+)/i.exec(html) ?? [];
  const found = elementsOf(parse(html)).find(({ tagName }) => tagName === name.toLowerCase());
  return found ? [found] : [];
}

/** The tree of a page; an implied `body` knows its end tag, too. */
function pageTree(page: Uint8Array): Document {
  const isBody = (node: Node): boolean => "tagName" in node && node.tagName === "body";
  const treeAdapter: typeof defaultTreeAdapter = {
    ...defaultTreeAdapter,
    getNodeSourceCodeLocation: (node) =>
      defaultTreeAdapter.getNodeSourceCodeLocation(node) ?? (isBody(node) ? ({} as never) : null),
  };
  return BrowserParser.parse(textOf(page), { sourceCodeLocationInfo: true, treeAdapter });
}

export function textOf(page: Uint8Array): string {
  const text = Buffer.from(page).toString(isUtf8(page) ? "utf8" : "latin1");
  return text.replace(isUtf8(page) ? /^\ufeff/ : /^\xef\xbb\xbf/, "");
}

/**
 * A tree as one text, with neighbouring texts joined. White space between the tags of `html` and `head`, at the beginning
 * and end of `body` and behind it does not count: where the parser puts it depends on what else is there.
 */
function steps(document: Document, page: string, keepsBlanksBefore = false): string {
  const body = elementsOf(document).find(({ tagName }) => tagName === "body");
  const { endTag, endOffset = page.length } = body?.sourceCodeLocation ?? {};
  const end = endTag?.startOffset ?? endOffset;
  const isEnd = withoutEndTags(page.slice(end)).trim() === "";
  const result: string[] = [document.mode];
  let text = "";
  let isAtBodyStart = false;
  const add = (step: string): void => {
    const data = isAtBodyStart ? text.replace(/^[ \t\n\f\r]+/, "") : text;
    if (data !== "") result.push(JSON.stringify(data));
    if (step !== "") result.push(step);
    text = "";
    isAtBodyStart = false;
  };
  const stack: (ChildNode | string)[] = [...document.childNodes].reverse();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === "string") {
      add(node);
    } else if ("value" in node) {
      const value = isEnd ? withoutBlanksBehind(node, page, end, keepsBlanksBefore) : node.value;
      if (!isOutsideBody(node) || !/^[ \t\n\f\r]*$/.test(value)) text += value;
    } else if ("tagName" in node) {
      const attributes = node.attrs.map(({ prefix = "", name, value }) => `${prefix}:${name}=${JSON.stringify(value)}`);
      add(`<${node.namespaceURI} ${node.tagName} ${attributes.sort().join(" ")}>`);
      isAtBodyStart = node.tagName === "body" && parentName(node) === "html";
      stack.push(`</${node.tagName}>`);
      const content = "content" in node ? (node.content as ParentNode).childNodes : node.childNodes;
      stack.push(...[...content].reverse());
    } else {
      add("data" in node ? `<!--${node.data}-->` : JSON.stringify([node.name, node.publicId, node.systemId]));
    }
  }
  add("");
  return withoutBlanksAtEnd(result).join("\n");
}

/** What follows the end of `body`, without the tags and comments that may stand there. */
function withoutEndTags(text: string): string {
  return text.replace(/<\/(?:body|html)\s*>|<!--(?:-?>|[\s\S]*?--!?>)/gi, "");
}

/** A text without the white space that the parser has put into it from behind the end of `body`, or without all at its end. */
function withoutBlanksBehind(text: TextNode, page: string, end: number, keepsBlanksBefore: boolean): string {
  const { value } = text;
  const endOffset = text.sourceCodeLocation?.endOffset ?? 0;
  if (endOffset <= end) return value;
  const behind = withoutEndTags(page.slice(end, endOffset)).replace(/\r\n/g, "\n").length;
  const most = keepsBlanksBefore ? behind : value.length;
  return value.replace(new RegExp(`[ \\t\\n\\f\\r]{0,${most}}$`), "");
}

function withoutBlanksAtEnd(result: readonly string[]): string[] {
  const trimmed = [...result];
  for (let index = trimmed.lastIndexOf("</body>") - 1; index > 0; index -= 1) {
    const step = trimmed[index] ?? "";
    if (step.startsWith("</")) continue;
    if (!step.startsWith('"')) break;
    const text = (JSON.parse(step) as string).replace(/[ \t\n\f\r]+$/, "");
    trimmed.splice(index, 1, ...(text === "" ? [] : [JSON.stringify(text)]));
    if (text !== "") break;
  }
  return trimmed;
}

function isOutsideBody(node: ChildNode): boolean {
  const name = parentName(node);
  return name === "html" || name === "head" || node.parentNode?.nodeName === "#document";
}

function parentName({ parentNode }: ChildNode): string {
  return parentNode && "tagName" in parentNode ? parentNode.tagName : "";
}
