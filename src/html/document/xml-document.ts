import { type SaxesAttributeNS, SaxesParser } from "saxes";
import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { DocumentError } from "../document-error.ts";
import { Attributes, noAttributes } from "../tokenizer/attributes.ts";
import { htmlNamespace } from "./html-names.ts";
import {
  appendChild,
  CommentNode,
  RootNode,
  SourceElement,
  TemplateElement,
  TextNode,
  type TreeChild,
} from "./html-nodes.ts";
import { ParseBudget, type ParseLimits } from "./parse-budget.ts";
import { LineCounter, type ParsedTree } from "./source-document.ts";
import { readDoctype, XmlProblem } from "./xml-doctype.ts";

/** Characters that are parsed without a look at the clock; elements that declare a namespace cost the most. */
const pieceLength = 8 * 1024;

/** One that begins no reference. */
const looseAmpersand = /&(?![^\s&;<]+;)/g;

/** Where a part of a document stands. */
export interface XmlPlace {
  /** The namespace of each prefix; `""` is the prefix of names without one. */
  readonly namespaces: Record<string, string>;
  readonly entities: Record<string, string> | undefined;
}

/** Throws `NOT_WELL_FORMED` with line and column where a browser shows an error; the limits are those of HTML. */
export function* parseXmlTree(source: string, limits: ParseLimits = {}): SlicedWork<ParsedTree> {
  const budget = new ParseBudget(limits);
  const root = yield* buildXmlTree(source, budget);
  return { root, treeBytes: budget.treeBytes, formattedFromBefore: new Set() };
}

/** The tree of a part of a document: text, and any number of elements. Throws `INVALID_HTML`. */
export function parseXmlPart(source: string, place: XmlPlace): SlicedWork<RootNode> {
  return buildXmlTree(source, new ParseBudget(), place);
}

function* buildXmlTree(source: string, budget: ParseBudget, place?: XmlPlace): SlicedWork<RootNode> {
  const builder = new XmlTreeBuilder(source, budget, place);
  try {
    for (let position = 0; position < source.length; position += pieceLength) {
      const piece = source.slice(position, position + pieceLength);
      builder.write(piece);
      budget.addCharacters(piece.length);
      yield;
    }
    return builder.finish();
  } catch (error) {
    if (!(error instanceof XmlProblem)) throw error;
    const { line, column } = new LineCounter(source).at(error.offset ?? builder.offset);
    const what = place ? "supplied XML is not well-formed" : "document is not well-formed XML";
    const details = `The ${what}: ${error.message} (line ${line}, column ${column}).`;
    throw new DocumentError(place ? "INVALID_HTML" : "NOT_WELL_FORMED", details, { line, column });
  }
}

/**
 * Builds a tree of what saxes finds, which is strict about XML 1.0 and Namespaces in XML. Element names are local
 * names, attribute names are whole ones. A processing instruction is a comment to the tree.
 */
class XmlTreeBuilder {
  readonly #root = new RootNode();
  readonly #source: string;
  readonly #budget: ParseBudget;
  readonly #isPart: boolean;
  readonly #parser: SaxesParser<{ xmlns: true }>;
  readonly #open: SourceElement[] = [];
  #tokenEnd = 0;
  #attributes = 0;

  constructor(source: string, budget: ParseBudget, place: XmlPlace | undefined) {
    this.#source = source;
    this.#budget = budget;
    this.#isPart = place !== undefined;
    const parser = new SaxesParser({
      xmlns: true,
      fragment: this.#isPart,
      forceXMLVersion: true,
      defaultXMLVersion: "1.0",
      ...(place && { additionalNamespaces: place.namespaces }),
    });
    this.#parser = parser;
    if (place?.entities) parser.ENTITIES = place.entities;
    parser.on("error", ({ message }) => {
      throw this.#problem(message);
    });
    parser.on("text", (data) => this.#text(data, this.offset - 1));
    parser.on("cdata", (data) => this.#text(data, this.offset));
    parser.on("comment", (data) => this.#add(new CommentNode(data), this.offset + 1));
    parser.on("processinginstruction", ({ target, body }) => {
      this.#add(new CommentNode(`?${target}${body && ` ${body}`}?`), this.offset);
    });
    parser.on("xmldecl", () => {
      this.#tokenEnd = this.offset;
    });
    parser.on("doctype", (text) => {
      const { node, entities } = readDoctype(text, this.#tokenEnd);
      parser.ENTITIES = entities;
      this.#add(node, this.offset);
    });
    parser.on("opentagstart", ({ name }) => {
      this.#attributes = 0;
      this.#budget.checkTag(0, name.length);
      this.#budget.checkDepth(this.#open.length + 1);
      this.#tokenEnd = source.lastIndexOf("<", this.offset - 1);
    });
    parser.on("attribute", ({ name }) => {
      this.#attributes += 1;
      this.#budget.checkTag(this.#attributes, name.length);
    });
    parser.on("opentag", ({ local, uri, attributes }) => this.#openElement(local, uri, attributes));
    parser.on("closetag", ({ isSelfClosing }) => this.#closeElement(isSelfClosing));
  }

  get offset(): number {
    return this.#parser.position;
  }

  write(piece: string): void {
    this.#parser.write(piece);
  }

  finish(): RootNode {
    this.#parser.on("text", (data) => this.#text(data, this.#source.length));
    this.#parser.close();
    return this.#root;
  }

  /** What is wrong, in the words of the parser, and where: what was not ended is wrong where it begins. */
  #problem(message: string): XmlProblem {
    const reason = message.replace(/^\d+:\d+: /, "").replace(/\.$/, "");
    if (/^un(?:closed tag|expected end)|entity name/.test(reason)) {
      looseAmpersand.lastIndex = this.#tokenEnd; // the parser takes all that follows one for its name
      const loose = looseAmpersand.exec(this.#source);
      if (loose) return new XmlProblem("an & must be written as &amp;", loose.index);
    }
    if (reason.startsWith("unclosed tag")) return new XmlProblem(reason, this.#open.at(-1)?.startIndex ?? 0);
    if (reason === "unexpected end") return new XmlProblem(reason, this.#tokenEnd);
    return new XmlProblem(reason, Math.max(this.offset - 1, 0));
  }

  #text(data: string, end: number): void {
    if (this.#isPart || this.#open.length > 0) this.#add(new TextNode(data), end);
    else this.#tokenEnd = end; // white space beside the root element
  }

  #openElement(local: string, namespace: string, attributes: Readonly<Record<string, SaxesAttributeNS>>): void {
    this.#budget.addElement(this.#attributes);
    const attribs = this.#attributes === 0 ? noAttributes : new Attributes();
    for (const [name, { value }] of Object.entries(attributes)) attribs[name] = value;
    const isTemplate = local === "template" && namespace === htmlNamespace;
    const element = new (isTemplate ? TemplateElement : SourceElement)(local, namespace, attribs);
    element.contentStart = this.offset;
    this.#append(element, this.offset);
    this.#open.push(element);
  }

  #closeElement(isSelfClosing: boolean): void {
    const element = this.#open.pop();
    if (!element) return;
    const end = this.offset;
    if (!isSelfClosing) element.contentEnd = this.#source.lastIndexOf("<", end - 1);
    element.endIndex = end - 1;
    element.children = element.children.slice(); // without the room that a growing array keeps
    this.#tokenEnd = end;
  }

  #add(node: Exclude<TreeChild, SourceElement>, end: number): void {
    this.#budget.addNode();
    node.endIndex = end - 1;
    this.#append(node, end);
  }

  #append(node: TreeChild, end: number): void {
    node.startIndex = this.#tokenEnd;
    this.#tokenEnd = end;
    const parent = this.#open.at(-1) ?? this.#root;
    appendChild(parent instanceof TemplateElement ? parent.content : parent, node);
  }
}
