// Namespaces in XML 1.0: a name, and one with a prefix.
const nameStart =
  ":A-Z_a-z\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef" +
  "\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}";
const nameCharacter = `${nameStart}\\-.0-9\\xb7\\u0300-\\u036f\\u203f\\u2040`;

/** The source of a pattern for a name (XML 1.0, §2.3); to be compiled with the `u` flag. */
export const namePattern: string = `[${nameStart}][${nameCharacter}]*`;

const simpleName = /^[A-Za-z_][\w.-]*$/;
const simpleWithPrefix = /^([A-Za-z_][\w.-]*):([A-Za-z_][\w.-]*)$/;
const name = new RegExp(`^${namePattern}$`, "u");

const xmlNamespace = "http://www.w3.org/XML/1998/namespace";
const xmlnsNamespace = "http://www.w3.org/2000/xmlns/";

export function isName(text: string): boolean {
  return simpleName.test(text) || name.test(text);
}

/** The parts of a name; the prefix is `""` where it has none. `undefined` for what is no name. */
export function qualifiedName(text: string): { readonly prefix: string; readonly local: string } | undefined {
  if (simpleName.test(text)) return { prefix: "", local: text };
  const [, simplePrefix, simpleLocal] = simpleWithPrefix.exec(text) ?? [];
  if (simplePrefix !== undefined && simpleLocal !== undefined) return { prefix: simplePrefix, local: simpleLocal };
  if (!name.test(text)) return undefined;
  const colon = text.indexOf(":");
  if (colon < 0) return { prefix: "", local: text };
  const [prefix, local] = [text.slice(0, colon), text.slice(colon + 1)];
  return prefix !== "" && !local.includes(":") && name.test(local) ? { prefix, local } : undefined;
}

/** The namespaces that prefixes stand for at a place in a document; `""` is the prefix of names without one. */
export class NamespaceScope {
  readonly #outer: NamespaceScope | undefined;
  readonly #bindings: ReadonlyMap<string, string>;

  constructor(bindings: ReadonlyMap<string, string> = new Map(), outer?: NamespaceScope) {
    this.#bindings = bindings;
    this.#outer = outer;
  }

  /** `undefined` for a prefix that is not declared. */
  find(prefix: string): string | undefined {
    if (prefix === "xml") return xmlNamespace;
    for (let scope: NamespaceScope | undefined = this; scope; scope = scope.#outer) {
      const namespace = scope.#bindings.get(prefix);
      if (namespace !== undefined) return prefix !== "" && namespace === "" ? undefined : namespace;
    }
    return prefix === "" ? "" : undefined;
  }
}

/**
 * What the attributes of an element declare: `xmlns="..."` and `xmlns:prefix="..."`. Throws an {@link XmlProblem} at
 * `offset` for what must not be declared.
 */
export function declarationsIn(
  attribs: Readonly<Record<string, string>>,
  offset: number = 0,
): ReadonlyMap<string, string> | undefined {
  let declared: Map<string, string> | undefined;
  for (const key of Object.keys(attribs)) {
    if (!key.startsWith("xmlns")) continue;
    const prefix = key === "xmlns" ? "" : key.startsWith("xmlns:") ? key.slice("xmlns:".length) : undefined;
    if (prefix === undefined) continue;
    const namespace = attribs[key] ?? "";
    if (!isAllowed(prefix, namespace)) throw new XmlProblem(`${key}="${namespace}" must not be declared`, offset);
    declared ??= new Map();
    declared.set(prefix, namespace);
  }
  return declared;
}

/** Namespaces in XML 1.0, §3: two prefixes stand for what they stand for, and none for nothing. */
function isAllowed(prefix: string, namespace: string): boolean {
  if (prefix === "xmlns" || namespace === xmlnsNamespace) return false;
  return prefix === ""
    ? namespace !== xmlNamespace
    : namespace !== "" && (prefix === "xml") === (namespace === xmlNamespace);
}

/** What keeps a text from being well-formed, and where in it. */
export class XmlProblem extends Error {
  readonly offset: number;

  constructor(reason: string, offset: number) {
    super(reason);
    this.offset = offset;
  }

  /** With the line and column in `source`, both from 1. */
  describe(source: string): string {
    const { line, column } = lineAndColumn(source, this.offset);
    return `${this.message} (line ${line}, column ${column})`;
  }
}

/** Where an offset is, both from 1; a line ends with LF, CR, or both. */
export function lineAndColumn(source: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = source.slice(0, offset).split(/\r\n?|\n/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
