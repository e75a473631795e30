import { asciiLowerCase } from "../document/ascii-lower-case.ts";
import { normalised } from "./character-references.ts";

/** What a document type declaration says. `null` is what it does not say, which is not the same as saying nothing. */
export interface Doctype {
  readonly name: string | null;
  readonly publicId: string | null;
  readonly systemId: string | null;
  /** Whether it is so broken that browsers take the page for one of the nineties. */
  readonly forcesQuirks: boolean;
}

const blanks = "[\\t\\n\\f ]*";
const quoted = `(?:"([^"]*)("?)|'([^']*)('?))`;
const start = new RegExp(`^${blanks}([^\\t\\n\\f ]*)${blanks}`);
const keyword = /^(public|system)/i;
const identifier = new RegExp(`^${blanks}${quoted}${blanks}`);

/**
 * Reads what stands between `<!doctype` and `>` (HTML Standard, 13.2.5.53 to 13.2.5.68). `isComplete` tells whether there
 * is a `>`.
 */
export function readDoctype(raw: string, isComplete: boolean): Doctype {
  const text = normalised(raw);
  const [all = "", name = ""] = start.exec(text) ?? [];
  const rest = text.slice(all.length);
  const named = { name: name === "" ? null : asciiLowerCase(name), publicId: null, systemId: null };
  if (rest === "") return { ...named, forcesQuirks: name === "" || !isComplete };
  const kind = keyword.exec(rest)?.[0];
  const first = kind === undefined ? undefined : readIdentifier(rest.slice(kind.length));
  if (!first || kind === undefined) return { ...named, forcesQuirks: true };
  if (kind.toLowerCase() === "system") {
    const isCut = !first.isClosed || (!isComplete && first.rest === "");
    return { ...named, systemId: first.id, forcesQuirks: isCut };
  }
  const known = { ...named, publicId: first.id };
  if (!first.isClosed || first.rest === "") return { ...known, forcesQuirks: !first.isClosed || !isComplete };
  const second = readIdentifier(first.rest);
  if (!second) return { ...known, forcesQuirks: true };
  const isCut = !second.isClosed || (!isComplete && second.rest === "");
  return { ...known, systemId: second.id, forcesQuirks: isCut };
}

interface Identifier {
  readonly id: string;
  readonly isClosed: boolean;
  readonly rest: string;
}

function readIdentifier(text: string): Identifier | undefined {
  const found = identifier.exec(text);
  if (!found) return undefined;
  const [all, double, doubleEnd, single, singleEnd] = found;
  return {
    id: double ?? single ?? "",
    isClosed: (doubleEnd ?? singleEnd) !== "",
    rest: text.slice(all.length),
  };
}
