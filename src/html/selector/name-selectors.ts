import type { SelectorReader } from "./selector-reader.ts";
import type { AttributeOperator, AttributeSelector, SimpleSelector } from "./selector-tree.ts";

/** A name, or `*`; what is written `\*` is a name. */
interface TypeName {
  readonly name: string | undefined;
}

const anyName: TypeName = { name: undefined };

const operators: readonly string[] = ["=", "~=", "|=", "^=", "$=", "*="] satisfies AttributeOperator[];

/** Reads `p`, `*` or `*|p`; `undefined` where something else stands. */
export function readTypeSelector(reader: SelectorReader): SimpleSelector | undefined {
  const { start } = reader.token;
  const first = readNameOrStar(reader);
  if (!reader.take("|")) return first && typeSelector(first, "any");
  const local = readNameOrStar(reader);
  if (!local) throw reader.unexpected("a tag name is missing");
  if (first && first !== anyName) throw reader.invalid("the namespace prefix is not declared", start);
  return typeSelector(local, first ? "any" : "none");
}

function readNameOrStar(reader: SelectorReader): TypeName | undefined {
  if (reader.take("*")) return anyName;
  const name = reader.name();
  return name === undefined ? undefined : { name };
}

/** Reads an attribute selector behind its `[`, which is at `start`. */
export function readAttributeSelector(reader: SelectorReader, start: number): AttributeSelector {
  reader.skipSpace();
  const { name, namespace } = readAttributeName(reader);
  reader.skipSpace();
  const operator = readOperator(reader);
  if (!operator) {
    reader.close("]", start);
    return { kind: "attribute", name, namespace, operator: "exists", value: "", flag: null };
  }
  reader.skipSpace();
  const value = reader.string() ?? reader.name();
  if (value === undefined) throw reader.unexpected("a value is missing; put it in quotes unless it is a name");
  reader.skipSpace();
  const flag = readFlag(reader);
  reader.skipSpace();
  reader.close("]", start);
  return { kind: "attribute", name, namespace, operator, value, flag };
}

function readAttributeName(reader: SelectorReader): { name: string; namespace: "any" | "none" } {
  const { start } = reader.token;
  const first = readNameOrStar(reader);
  const hasPrefix = reader.take("|");
  const name = hasPrefix ? reader.name() : first?.name;
  if (name === undefined) throw reader.unexpected("an attribute name is missing");
  if (hasPrefix && first && first !== anyName) throw reader.invalid("the namespace prefix is not declared", start);
  return { name, namespace: hasPrefix && first ? "any" : "none" };
}

function readOperator(reader: SelectorReader): AttributeOperator | undefined {
  const { kind, value } = reader.token;
  if (kind !== "delim" || !operators.includes(value)) return undefined;
  reader.next();
  return value as AttributeOperator;
}

function readFlag(reader: SelectorReader): "i" | "s" | null {
  const { start } = reader.token;
  const flag = reader.name()?.toLowerCase() ?? null;
  if (flag === null || flag === "i" || flag === "s") return flag;
  throw reader.invalid("the flag is unknown", start);
}

function typeSelector({ name }: TypeName, namespace: "any" | "none"): SimpleSelector {
  return name === undefined ? { kind: "universal", namespace } : { kind: "type", name, namespace };
}
