import { readReference, referenceText } from "../tokenizer/text.ts";
import { isName, XmlProblem } from "./xml-names.ts";

const predefined: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** No name that a person declares is longer. */
const reference = /&(?:([^\s&;<]{1,256});)?/g;
const hexadecimal = /^#x([0-9a-fA-F]+)$/;
const decimal = /^#([0-9]+)$/;

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
    return raw.replace(reference, (_found, name: string | undefined, offset: number) => {
      if (name === undefined) throw new XmlProblem("an & must be written as &amp;", offset);
      return predefined[name] ?? characterOf(name, offset) ?? this.#textOf(name, offset);
    });
  }

  #textOf(name: string, offset: number): string {
    if (!isName(name)) throw new XmlProblem("an & must be written as &amp;", offset);
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
    const reference = `&${name};`;
    if (readReference(reference, 0, "text") !== reference.length) return undefined;
    const text = referenceText();
    this.#resolved.set(name, text);
    return text;
  }
}

function characterOf(name: string, offset: number): string | undefined {
  if (!name.startsWith("#")) return undefined;
  const [, hex] = hexadecimal.exec(name) ?? [];
  const [, digits] = decimal.exec(name) ?? [];
  const codePoint = hex === undefined ? Number.parseInt(digits ?? "", 10) : Number.parseInt(hex, 16);
  if (!isCharacter(codePoint)) throw new XmlProblem(`&${name}; stands for no character`, offset);
  return String.fromCodePoint(codePoint);
}

/** XML 1.0, §2.2. */
function isCharacter(codePoint: number): boolean {
  return (
    codePoint === 9 ||
    codePoint === 10 ||
    codePoint === 13 ||
    (codePoint >= 0x20 && codePoint <= 0xd7ff) ||
    (codePoint >= 0xe000 && codePoint <= 0xfffd) ||
    (codePoint >= 0x10000 && codePoint <= 0x10ffff)
  );
}
