import { readdirSync, readFileSync } from "node:fs";
import { mathNamespace, svgNamespace } from "../../src/html/document/html-names.ts";
import {
  CommentNode,
  DoctypeNode,
  type RootNode,
  SourceElement,
  TemplateElement,
  TextNode,
  type TreeChild,
} from "../../src/html/document/html-nodes.ts";

/** The tests that browsers and parsers share, where they lie beside the checkout. */
const directory = new URL("../../../shared/html5lib-tests/", import.meta.url);

/** A case of the tree construction tests. */
export interface TreeCase {
  readonly file: string;
  readonly data: string;
  readonly document: string;
  /** The element that the data is content of; `undefined` for a whole document. */
  readonly fragmentOf: string | undefined;
  readonly scripting: "on" | "off" | "both";
}

export function treeCases(): TreeCase[] {
  return namesIn("tree-construction", ".dat").flatMap((file) => {
    const text = readFileSync(new URL(`tree-construction/${file}`, directory), "utf8");
    return text
      .split(/(?:^|\n\n)#data\n/)
      .slice(1)
      .map((part) => treeCase(file, part));
  });
}

function treeCase(file: string, part: string): TreeCase {
  const [data = "", rest = ""] = splitAt(part, /(?:^|\n)#errors\n/);
  const [head = "", tree = ""] = splitAt(rest, /(?:^|\n)#document\n/);
  const fragmentOf = /(?:^|\n)#document-fragment\n(.*)/.exec(head)?.[1];
  const scripting = /#script-(on|off)/.exec(head)?.[1] as "on" | "off" | undefined;
  return { file, data, document: tree.replace(/\n+$/, ""), fragmentOf, scripting: scripting ?? "both" };
}

function splitAt(text: string, mark: RegExp): [string, string] {
  const found = mark.exec(text);
  return found ? [text.slice(0, found.index), text.slice(found.index + found[0].length)] : [text, ""];
}

/** A case of the tokenizer tests. */
export interface TokenCase {
  readonly file: string;
  readonly description: string;
  readonly input: string;
  readonly output: readonly unknown[];
  readonly initialStates?: readonly string[];
  readonly lastStartTag?: string;
  readonly doubleEscaped?: boolean;
}

export function tokenCases(): TokenCase[] {
  return namesIn("tokenizer", ".test").flatMap((file) => {
    const { tests = [] } = JSON.parse(readFileSync(new URL(`tokenizer/${file}`, directory), "utf8")) as {
      readonly tests?: readonly TokenCase[];
    };
    return tests.map((each) => {
      const unescaped = (): string => JSON.stringify(each).replace(/\\\\u([0-9a-fA-F]{4})/g, "\\u$1");
      return { ...(each.doubleEscaped ? (JSON.parse(unescaped()) as TokenCase) : each), file };
    });
  });
}

function namesIn(folder: string, extension: string): string[] {
  const names = readdirSync(new URL(folder, directory));
  return names.filter((name) => name.endsWith(extension)).sort();
}

// Prefixes of attributes that have a namespace of their own in SVG and MathML.
const prefixed = /^(xlink:(?:actuate|arcrole|href|role|show|title|type)|xml:(?:lang|space)|xmlns:xlink)$/;

/** A tree as these tests write it. */
export function dump(root: RootNode): string {
  const lines: string[] = [];
  const visit = (node: TreeChild, depth: number): void => {
    const line = (text: string): number => lines.push(`| ${"  ".repeat(depth)}${text}`);
    if (node instanceof TextNode) line(`"${node.data}"`);
    else if (node instanceof CommentNode) line(`<!-- ${node.data} -->`);
    else if (node instanceof DoctypeNode) {
      const { name, publicId, systemId } = node;
      line(publicId || systemId ? `<!DOCTYPE ${name} "${publicId}" "${systemId}">` : `<!DOCTYPE ${name}>`);
    } else if (node instanceof SourceElement) {
      const prefix = node.namespace === svgNamespace ? "svg " : node.namespace === mathNamespace ? "math " : "";
      line(`<${prefix}${node.name}>`);
      const listed = (name: string): string => (prefix && prefixed.test(name) ? name.replace(":", " ") : name);
      const attributes = Object.entries(node.attribs).map(([name, value]) => [listed(name), value]);
      for (const [name, value] of attributes.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1))) {
        lines.push(`| ${"  ".repeat(depth + 1)}${name}="${value}"`);
      }
      if (node instanceof TemplateElement) {
        lines.push(`| ${"  ".repeat(depth + 1)}content`);
        for (const child of node.content.children) visit(child, depth + 2);
      }
      for (const child of node.children) visit(child, depth + 1);
    }
  };
  for (const child of root.children) visit(child, 0);
  return lines.join("\n");
}
