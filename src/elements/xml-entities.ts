import { parseFragment } from "parse5";
import { namePattern } from "./xml-names.ts";
import { XmlProblem } from "./xml-problem.ts";

const predefined: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const reference = new RegExp(`&(?:#x([0-9a-fA-F]+);|#([0-9]+);|(${namePattern});)?`, "gu");

/** An entity may stand for much, and be referred to a million times: characters that all of them may come to together. */
const maxExpansion = 1024 * 1024;

/** What the references of one document stand for. */
export class XmlEntities {
  readonly #declared: ReadonlyMap<string, string>;
  readonly #hasHtmlNames: boolean;
  readonly #resolved = new Map<string, string>();
  readonly #resolving = new Set<string>();
  #expansion = 0;

  /** `hasHtmlNames`: `&nbsp;` and the like are known, as browsers know them in documents with a doctype of XHTML 1. */
  constructor(declared: ReadonlyMap<string, string> = new Map(), hasHtmlNames: boolean = false) {
    this.#declared = declared;
    this.#hasHtmlNames = hasHtmlNames;
  }

  /**
   * A text with its references resolved. Throws an {@link XmlProblem} for an `&` that begins none, and for what cannot be
   * resolved.
   */
  resolve(raw: string): string {
    if (!raw.includes("&")) return raw;
    return raw.replace(
      reference,
      (_found, hex: string | undefined, decimal: string | undefined, name: string | undefined, offset: number) => {
        if (hex !== undefined) return character(Number.parseInt(hex, 16), offset);
        if (decimal !== undefined) return character(Number.parseInt(decimal, 10), offset);
        if (name === undefined) throw new XmlProblem("an & must be written as &amp;", offset);
        return predefined[name] ?? this.#textOf(name, offset);
      },
    );
  }

  #textOf(name: string, offset: number): string {
    const text = this.#resolved.get(name) ?? this.#resolveDeclared(name, offset) ?? this.#htmlCharacter(name);
    if (text === undefined) throw new XmlProblem(`&${name}; is not declared`, offset);
    this.#expansion += text.length;
    if (this.#expansion > maxExpansion) throw new XmlProblem(`&${name}; and the like stand for too much text`, offset);
    return text;
  }

  #resolveDeclared(name: string, offset: number): string | undefined {
    const declared = this.#declared.get(name);
    if (declared === undefined) return undefined;
    if (declared.includes("<")) throw new XmlProblem(`&${name}; stands for markup, which is not supported`, offset);
    if (this.#resolving.has(name)) throw new XmlProblem(`&${name}; stands for itself`, offset);
    this.#resolving.add(name);
    try {
      const text = this.resolve(declared);
      this.#resolved.set(name, text);
      return text;
    } catch (error) {
      throw error instanceof XmlProblem ? new XmlProblem(error.message, offset) : error;
    } finally {
      this.#resolving.delete(name);
    }
  }

  #htmlCharacter(name: string): string | undefined {
    if (!this.#hasHtmlNames || !/^[A-Za-z][A-Za-z0-9]{1,31}$/.test(name)) return undefined;
    const [node] = parseFragment(`&${name};`).childNodes;
    const text = node && "value" in node ? node.value : "";
    if (text.includes(";")) return undefined;
    this.#resolved.set(name, text);
    return text;
  }
}

function character(codePoint: number, offset: number): string {
  const isAllowed =
    codePoint === 9 ||
    codePoint === 10 ||
    codePoint === 13 ||
    (codePoint >= 0x20 && codePoint <= 0xd7ff) ||
    (codePoint >= 0xe000 && codePoint <= 0xfffd) ||
    (codePoint >= 0x10000 && codePoint <= 0x10ffff);
  if (!isAllowed) throw new XmlProblem("a character reference stands for no character", offset);
  return String.fromCodePoint(codePoint);
}
