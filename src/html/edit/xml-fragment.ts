import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import {
  CommentNode,
  type RootNode,
  SourceElement,
  TextNode,
  type TreeNode,
  type TreeParent,
} from "../document/html-nodes.ts";
import { LineCounter, type Place, type SourceDocument } from "../document/source-document.ts";
import { TreeWalk } from "../document/tree-walk.ts";
import { readDoctype } from "../document/xml-doctype.ts";
import { parseXmlPart, type XmlPlace } from "../document/xml-document.ts";
import type { Fragment, FragmentStep, FragmentTag } from "./well-formed.ts";

/** Makes a check of XML as content of a node, with its namespaces and entities; it throws `INVALID_HTML` with line. */
export function xmlFragmentsOf(
  xml: string,
  document: SourceDocument,
): (parent: TreeParent | null) => SlicedWork<Fragment> {
  const entities = entitiesOf(document);
  const fragments = new Map<string, Fragment>();
  return function* (parent) {
    const namespaces = namespacesAt(parent);
    const key = JSON.stringify(namespaces);
    const fragment = fragments.get(key) ?? fragmentOf(xml, yield* parseXmlPart(xml, { namespaces, entities }));
    fragments.set(key, fragment);
    return fragment;
  };
}

function entitiesOf({ root, source }: SourceDocument): XmlPlace["entities"] {
  const doctype = root.children.find(({ type }) => type === "doctype");
  const start = doctype?.startIndex ?? 0;
  const text = source.slice(start + "<!DOCTYPE".length, doctype?.endIndex ?? 0);
  return doctype && readDoctype(text, start).entities;
}

/** The namespaces that are declared around a place, the nearest of each prefix. */
function namespacesAt(node: TreeNode | null): Record<string, string> {
  const namespaces: Record<string, string> = Object.create(null);
  for (let current = node; current; current = current.parent) {
    for (const [name, value] of Object.entries(current instanceof SourceElement ? current.attribs : {})) {
      const declaration = /^xmlns(?::(.+))?$/.exec(name);
      if (declaration) namespaces[declaration[1] ?? ""] ??= value;
    }
  }
  return namespaces;
}

function fragmentOf(xml: string, root: RootNode): Fragment {
  const tags = new Map<SourceElement, FragmentTag>();
  const steps: FragmentStep[] = [];
  const lines = new LineCounter(xml);
  const walk = new TreeWalk(root);
  while (walk.advance()) {
    const { node, isAtEnd } = walk;
    const place = lines.at(isAtEnd && node instanceof SourceElement ? node.contentEnd : node.startIndex);
    const parent = nameOfParent(node);
    if (node instanceof SourceElement) {
      const tag = tags.get(node) ?? tagOf(node, place);
      tags.set(node, tag);
      steps.push({ kind: isAtEnd ? "end" : "start", tag, data: "", parent, ...place });
    } else if (node instanceof TextNode || node instanceof CommentNode) {
      steps.push({ kind: node.type, data: node.data, parent, ...place });
    }
  }
  return { html: xml, tags: [...tags.values()], steps };
}

function tagOf({ name, attribs, startIndex, contentStart, contentEnd }: SourceElement, place: Place): FragmentTag {
  const endTag = contentEnd === -1 ? {} : { endTag: contentEnd };
  return { name, attributes: attribs, start: startIndex ?? 0, contentStart, ...place, ...endTag };
}

function nameOfParent({ parent }: TreeNode): string | undefined {
  const owner = parent instanceof SourceElement ? parent : parent?.parent;
  return owner instanceof SourceElement ? owner.name : undefined;
}
