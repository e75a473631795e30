import { DoctypeNode } from "./html-nodes.ts";
import { XmlEntities } from "./xml-entities.ts";
import { namePattern, XmlProblem } from "./xml-names.ts";

/** A document type declaration, and the entities that it declares. */
export interface XmlDoctype {
  readonly node: DoctypeNode;
  readonly end: number;
  readonly entities: XmlEntities;
}

const blanks = "[ \\t\\r\\n]";
const literal = `"([^"]*)"|'([^']*)'`;
const opening = new RegExp(
  `<!DOCTYPE${blanks}+(${namePattern})` +
    `(?:${blanks}+(?:SYSTEM${blanks}+(?:${literal})|PUBLIC${blanks}+(?:${literal})${blanks}+(?:${literal})))?${blanks}*`,
  "yu",
);
const closing = new RegExp(`${blanks}*>`, "y");
const entity = new RegExp(`<!ENTITY${blanks}+(${namePattern})${blanks}+(?:${literal})${blanks}*>`, "yu");
const characterReference = /&#(?:x([0-9a-fA-F]+)|([0-9]+));/g;

/** What may hold or end the internal subset. */
const special = /[\]"'<]/g;
/** Most characters of it: they are read in one go, which takes 15 ms at most. */
const maxSubsetLength = 256 * 1024;

const declaration =
  /^xml\s+version\s*=\s*(["'])1\.\d+\1(?:\s+encoding\s*=\s*(["'])[A-Za-z][\w.-]*\2)?(?:\s+standalone\s*=\s*(["'])(?:yes|no)\3)?\s*$/;

/** The public identifiers for which browsers know the names of HTML's characters (HTML Standard, 14.2). */
const knowsHtmlNames =
  /^-\/\/W3C\/\/DTD (?:XHTML (?:1\.0 (?:Transitional|Strict|Frameset)|1\.1|Basic 1\.0)|XHTML 1\.1 plus MathML 2\.0|MathML 2\.0|XHTML Mobile 1\.0)/;

/** Whether what stands in `<?...?>` is an XML declaration (XML 1.0, §2.8). */
export function isXmlDeclaration(data: string): boolean {
  return declaration.test(data);
}

/** Reads the document type declaration that begins at `start` (XML 1.0, §2.8). Throws an {@link XmlProblem}. */
export function readDoctype(source: string, start: number): XmlDoctype {
  opening.lastIndex = start;
  const match = opening.exec(source);
  if (!match) throw new XmlProblem("the doctype is not complete", start);
  const [, name = "", system1, system2, public1, public2, system3, system4] = match;
  const publicId = public1 ?? public2 ?? "";
  const subset = readSubset(source, opening.lastIndex);
  closing.lastIndex = subset.end;
  if (!closing.test(source)) throw new XmlProblem("the doctype is not complete", start);
  const node = new DoctypeNode(name, publicId, system1 ?? system2 ?? system3 ?? system4 ?? "");
  node.startIndex = start;
  node.endIndex = closing.lastIndex - 1;
  return { node, end: closing.lastIndex, entities: new XmlEntities(subset.entities, knowsHtmlNames.test(publicId)) };
}

/** The internal subset: its entities are read, its other declarations passed over. */
function readSubset(source: string, start: number): { end: number; entities: Map<string, string> } {
  const entities = new Map<string, string>();
  if (source[start] !== "[") return { end: start, entities };
  for (let position = start + 1; position - start < maxSubsetLength; ) {
    special.lastIndex = position;
    const at = special.exec(source)?.index;
    if (at === undefined) break;
    if (source[at] === "]") return { end: at + 1, entities };
    if (source.startsWith("<!ENTITY", at)) {
      entity.lastIndex = at;
      const [, name, quoted, apostrophed] = entity.exec(source) ?? [];
      // The first declaration of a name counts.
      if (name !== undefined && !entities.has(name)) entities.set(name, replacementText(quoted ?? apostrophed ?? ""));
    }
    position = endOfPart(source, at);
  }
  throw new XmlProblem("the doctype is not complete, or too long", start);
}

/** Comments, processing instructions and quoted text may hold a `]`. */
function endOfPart(source: string, start: number): number {
  const quote = source[start] ?? "";
  if (source.startsWith("<!--", start)) return behind(source, "-->", start + 4);
  if (source.startsWith("<?", start)) return behind(source, "?>", start + 2);
  return quote === "<" ? start + 1 : behind(source, quote, start + 1);
}

function behind(source: string, end: string, from: number): number {
  const found = source.indexOf(end, from);
  if (found < 0) throw new XmlProblem("the doctype is not complete", from);
  return found + end.length;
}

/** Character references are resolved where an entity is declared, others where it is used (XML 1.0, §4.5). */
function replacementText(value: string): string {
  return value.replace(characterReference, (found, hex?: string, decimal?: string) => {
    const codePoint = hex === undefined ? Number.parseInt(decimal ?? "", 10) : Number.parseInt(hex, 16);
    return codePoint > 0x10ffff ? found : String.fromCodePoint(codePoint);
  });
}
