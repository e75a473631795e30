import { readReference, referenceText } from "../tokenizer/text.ts";
import { DoctypeNode } from "./html-nodes.ts";

/** What keeps a text from being well-formed XML, and where in it, where that is known. */
export class XmlProblem extends Error {
  readonly offset: number | undefined;

  constructor(reason: string, offset?: number) {
    super(reason);
    this.offset = offset;
  }
}

/** A document type declaration, and the text that each name of an entity stands for in its document. */
export interface XmlDoctype {
  readonly node: DoctypeNode;
  readonly entities: Record<string, string>;
}

const name = String.raw`[\p{L}_:][\p{L}\p{N}\p{M}_:.\-\u00b7]*`;
const blanks = "[ \\t\\r\\n]";
const literal = `"([^"]*)"|'([^']*)'`;
const head = new RegExp(
  `^${blanks}+(${name})` +
    `(?:${blanks}+(?:SYSTEM${blanks}+(?:${literal})|PUBLIC${blanks}+(?:${literal})${blanks}+(?:${literal})))?` +
    `${blanks}*(?:\\[|$)`,
  "u",
);
/** Declarations of entities; skips comments, instructions and quoted text, which may hold what looks like one. */
const entity = new RegExp(
  `<!--[\\s\\S]*?-->|<\\?[\\s\\S]*?\\?>|<!ENTITY${blanks}+(${name})${blanks}+(?:${literal})${blanks}*>|"[^"]*"|'[^']*'`,
  "gu",
);
const reference = /&([^;&]*);?/g;
const characterReference = /&#(?:x([0-9a-fA-F]+)|([0-9]+));/g;

/** Most characters of a doctype: they are read at once, which takes 15 ms at most. */
const maxLength = 256 * 1024;
/** Characters of all entities together: one may stand for much, and be referred to a million times. */
const maxExpansion = 1024 * 1024;

const predefined: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The public identifiers for which browsers know the names of HTML's characters (HTML Standard, 14.2). */
const knowsHtmlNames =
  /^-\/\/W3C\/\/DTD (?:XHTML (?:1\.0 (?:Transitional|Strict|Frameset)|1\.1|Basic 1\.0)|XHTML 1\.1 plus MathML 2\.0|MathML 2\.0|XHTML Mobile 1\.0)/;

/** Reads what stands between `<!DOCTYPE` and `>`. Throws an {@link XmlProblem}. */
export function readDoctype(text: string, offset: number): XmlDoctype {
  if (text.length > maxLength) throw new XmlProblem("the doctype is too long", offset);
  const match = head.exec(text);
  if (!match) throw new XmlProblem("the doctype is not complete", offset);
  const [{ length }, root = "", system1, system2, public1, public2, system3, system4] = match;
  const publicId = public1 ?? public2 ?? "";
  const declared = new Map<string, string>();
  for (const [, key, quoted, apostrophed] of text.slice(length).matchAll(entity)) {
    // The first declaration of a name counts.
    if (key !== undefined && !declared.has(key)) declared.set(key, withCharacters(quoted ?? apostrophed ?? ""));
  }
  const node = new DoctypeNode(root, publicId, system1 ?? system2 ?? system3 ?? system4 ?? "");
  return { node, entities: entityTexts(declared, knowsHtmlNames.test(publicId)) };
}

/** Character references are resolved where an entity is declared, others where it is used (XML 1.0, §4.5). */
function withCharacters(value: string): string {
  return value.replace(characterReference, (found, hex?: string, decimal?: string) => {
    const codePoint = hex === undefined ? Number.parseInt(decimal ?? "", 10) : Number.parseInt(hex, 16);
    return codePoint > 0x10ffff ? found : String.fromCodePoint(codePoint);
  });
}

/** Resolves an entity when the parser asks for it, as it does once for each reference. */
function entityTexts(declared: ReadonlyMap<string, string>, hasHtmlNames: boolean): Record<string, string> {
  const resolved = new Map<string, string>();
  const resolving = new Set<string>();
  let expansion = 0;
  const declaredText = (key: string): string | undefined => {
    const value = resolved.get(key) ?? declared.get(key);
    if (value === undefined || resolved.has(key)) return value;
    if (value.includes("<")) throw new XmlProblem(`&${key}; stands for markup, which is not supported`);
    if (resolving.has(key)) throw new XmlProblem(`&${key}; stands for itself`);
    resolving.add(key);
    const text = value.replace(reference, (found, inner: string) => {
      const own = found.endsWith(";") ? textOf(inner) : undefined;
      if (own === undefined) throw new XmlProblem(`${found} in &${key}; is not declared`);
      return own;
    });
    resolving.delete(key);
    resolved.set(key, text);
    return text;
  };
  const textOf = (key: string): string | undefined => {
    const text = predefined[key] ?? declaredText(key) ?? (hasHtmlNames ? htmlCharacter(key) : undefined);
    expansion += text?.length ?? 0;
    if (expansion > maxExpansion) throw new XmlProblem(`&${key}; and the like stand for too much text`);
    return text;
  };
  return new Proxy({}, { get: (_entities, key) => textOf(String(key)) });
}

function htmlCharacter(key: string): string | undefined {
  const written = `&${key};`;
  const isWhole = /^[A-Za-z][A-Za-z0-9]{1,31}$/.test(key) && readReference(written, 0, "text") === written.length;
  return isWhole ? referenceText() : undefined;
}
