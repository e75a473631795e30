import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { CommentNode, type RootNode, SourceElement, TextNode, type TreeNode } from "../document/html-nodes.ts";
import { ParseBudget } from "../document/parse-budget.ts";
import { LineCounter, type Place, type SourceDocument } from "../document/source-document.ts";
import { TreeWalk } from "../document/tree-walk.ts";
import { readDoctype } from "../document/xml-doctype.ts";
import { buildXmlTree } from "../document/xml-document.ts";
import { XmlEntities } from "../document/xml-entities.ts";
import { declarationsIn, lineAndColumn, NamespaceScope, XmlProblem } from "../document/xml-names.ts";
import { DocumentError } from "../document-error.ts";
import type { Fragment, FragmentStep, FragmentTag } from "./well-formed.ts";

/**
 * Checks that XML is well-formed as content of `parent`, whose namespaces and entities it may use. Throws
 * `INVALID_HTML` with line and column.
 */
export function* parseXmlFragment(
  xml: string,
  document: SourceDocument,
  parent: TreeNode | null,
): SlicedWork<Fragment> {
  const context = { isDocument: false, entities: entitiesOf(document), scope: scopeAt(parent) };
  try {
    return fragmentOf(xml, yield* buildXmlTree(xml, context, new ParseBudget()));
  } catch (error) {
    if (!(error instanceof XmlProblem)) throw error;
    const details = `The supplied XML is not well-formed: ${error.describe(xml)}.`;
    throw new DocumentError("INVALID_HTML", details, lineAndColumn(xml, error.offset));
  }
}

function entitiesOf({ root, source }: SourceDocument): XmlEntities {
  const doctype = root.children.find(({ type }) => type === "directive");
  return doctype ? readDoctype(source, doctype.startIndex ?? 0).entities : new XmlEntities();
}

function scopeAt(node: TreeNode | null): NamespaceScope {
  const declared: ReadonlyMap<string, string>[] = [];
  for (let current = node; current; current = current.parent) {
    const own = current instanceof SourceElement ? declarationsIn(current.attribs) : undefined;
    if (own) declared.push(own);
  }
  return declared.reduceRight((outer, own) => new NamespaceScope(own, outer), new NamespaceScope());
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
  const attributes = Object.entries(attribs).map(([key, value]) => ({ name: key, value }));
  const endTag = contentEnd === -1 ? {} : { endTag: contentEnd };
  return { name, attributes, start: startIndex ?? 0, contentStart, ...place, ...endTag };
}

function nameOfParent({ parent }: TreeNode): string | undefined {
  const owner = parent instanceof SourceElement ? parent : parent?.parent;
  return owner instanceof SourceElement ? owner.name : undefined;
}
