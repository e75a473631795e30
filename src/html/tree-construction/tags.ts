import { mathNamespace, svgNamespace } from "../document/html-names.ts";
import type { SourceElement } from "../document/html-nodes.ts";
import { type TagName, tagCount, tagNames } from "../tokenizer/tokens.ts";
import { type WordOf, words } from "../words.ts";

/** What an open element is to the rules of the parser, as bits. */
export const trait = {
  /** "Special" elements (HTML Standard, 13.2.4.2). */
  special: 1,
  /** What ends the search for an element "in scope", "in list item scope", and so on. */
  scope: 2,
  listItemScope: 4,
  buttonScope: 8,
  tableScope: 16,
  /** Closed by "generate implied end tags". */
  impliedEnd: 32,
  /** What "clear the stack back to a table body context" (or row) stops at. */
  tableBodyContext: 64,
  tableRowContext: 128,
  /** What content is put before, not into, by foster parenting. */
  fosters: 256,
  /** What ends the search for an open `li`, `dd` or `dt`: special, but not `address`, `div` and `p`. */
  endsListItems: 512,
  heading: 1024,
} as const;

const traitsById: number[] = Array.from({ length: tagCount }, () => 0);

give(
  trait.special | trait.endsListItems,
  `applet area article aside base basefont bgsound blockquote body br button caption center col colgroup dd
  details dir dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html
  iframe img input keygen li link listing main marquee menu meta nav noembed noframes noscript object ol param plaintext pre
  script search section select source style summary table tbody td template textarea tfoot th thead title tr track ul wbr xmp`,
);
give(trait.special, "address div p");
const everyScope = trait.scope | trait.listItemScope | trait.buttonScope;
give(everyScope, "applet caption html marquee object select table td template th");
give(trait.listItemScope, "ol ul");
give(trait.buttonScope, "button");
give(trait.tableScope, "html table template");
give(trait.impliedEnd, "dd dt li optgroup option p rb rp rt rtc");
give(trait.tableBodyContext, "tbody tfoot thead template html");
give(trait.tableRowContext, "tr template html");
give(trait.fosters, "table tbody tfoot thead tr");
give(trait.heading, "h1 h2 h3 h4 h5 h6");

/** An element of SVG or MathML on the stack of open elements, and one in which HTML may stand. */
const foreignTag: TagName = { name: "", id: tagCount };
const foreignBoundaryTag: TagName = { name: "", id: tagCount + 1 };
traitsById.push(0, everyScope | trait.special | trait.endsListItems);

/** The traits of an open element, by the id of its tag. */
export function traitsOf(tag: TagName): number {
  return traitsById[tag.id] ?? 0;
}

/** A tag that HTML knows. */
export function tagNamed(name: string): TagName {
  const tag = tagNames.get(name);
  if (!tag) throw new TypeError(`${name} is not a tag name`);
  return tag;
}

/** Tags that HTML knows, each under its name; `names` has blanks between them. */
export function tagsNamed<Names extends string>(names: Names): Readonly<Record<WordOf<Names>, TagName>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, tagNamed(name)])) as Record<WordOf<Names>, TagName>;
}

function give(traits: number, names: string): void {
  for (const name of words(names)) {
    const { id } = tagNamed(name);
    traitsById[id] = (traitsById[id] ?? 0) | traits;
  }
}

const textPoints = words("mi mo mn ms mtext");
const svgPoints = words("foreignObject desc title");
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
