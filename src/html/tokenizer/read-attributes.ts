import { asciiLowerCase } from "../document/ascii-lower-case.ts";
import { Attributes, noAttributes } from "../document/attributes.ts";
import { AttributeScanner } from "./attribute-scanner.ts";
import { resolved } from "./character-references.ts";

/**
 * The attributes of the start tag that begins at an offset; of two with one name the first. `rename` gives names back their
 * capitals in SVG and MathML.
 */
export function readAttributes(
  source: string,
  tagStart: number,
  rename: (name: string) => string = (name) => name,
): Record<string, string> {
  const scanner = new AttributeScanner(source);
  scanner.begin(endOfTagName(source, tagStart));
  let attributes: Record<string, string> | undefined;
  while (scanner.next()) {
    attributes ??= new Attributes();
    const name = rename(asciiLowerCase(source.slice(scanner.nameStart, scanner.nameEnd)).replaceAll("\0", "\ufffd"));
    attributes[name] ??= resolved(source.slice(scanner.valueStart, scanner.valueEnd), "attribute");
  }
  return attributes ?? noAttributes;
}

function endOfTagName(source: string, tagStart: number): number {
  endOfName.lastIndex = tagStart + 1;
  endOfName.test(source);
  return endOfName.lastIndex;
}

const endOfName = /[^\t\n\f\r />]*/y;
