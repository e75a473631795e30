import type { SourceElement } from "../document/html-nodes.ts";
import { mathNamespace, svgNamespace } from "../document/namespaces.ts";
import type { TagName } from "../tokenizer/tag-names.ts";
import { foreignBoundaryTag, foreignTag } from "./tags.ts";

const textPoints: ReadonlySet<string> = new Set(["mi", "mo", "mn", "ms", "mtext"]);
const svgPoints: ReadonlySet<string> = new Set(["foreignObject", "desc", "title"]);
const htmlEncodings: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"]);

/** Whether text and HTML may stand in an element of MathML. */
export function isTextIntegrationPoint({ namespace, name }: SourceElement): boolean {
  return namespace === mathNamespace && textPoints.has(name);
}

/** Whether HTML may stand in an element of SVG or MathML. */
export function isHtmlIntegrationPoint(element: SourceElement): boolean {
  const { namespace, name } = element;
  if (namespace === svgNamespace) return svgPoints.has(name);
  if (namespace !== mathNamespace || name !== "annotation-xml") return false;
  return htmlEncodings.has(element.attribs["encoding"]?.toLowerCase() ?? "");
}

/** What an element of SVG or MathML is on the stack of open elements. */
export function openTagOf(namespace: string, name: string): TagName {
  const isBoundary =
    namespace === svgNamespace ? svgPoints.has(name) : textPoints.has(name) || name === "annotation-xml";
  return isBoundary ? foreignBoundaryTag : foreignTag;
}
