import { asciiLowerCase, normalised } from "./text.ts";

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

/** Reads what stands between `<!doctype` and `>` (HTML Standard, 13.2.5.53 to 13.2.5.68), if there is a `>`. */
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
  return { id: double ?? single ?? "", isClosed: (doubleEnd ?? singleEnd) !== "", rest: text.slice(all.length) };
}

/** Beginnings of public identifiers that mean quirks. */
const quirksPrefixes = `+//silmaril//dtd html pro v0r11 19970101// | -//as//dtd html 3.0 aswedit + extensions// |
  -//advasoft ltd//dtd html 3.0 aswedit + extensions// | -//ietf//dtd html 2.0 level 1// |
  -//ietf//dtd html 2.0 level 2// | -//ietf//dtd html 2.0 strict level 1// | -//ietf//dtd html 2.0 strict level 2// |
  -//ietf//dtd html 2.0 strict// | -//ietf//dtd html 2.0// | -//ietf//dtd html 2.1e// | -//ietf//dtd html 3.0// |
  -//ietf//dtd html 3.2 final// | -//ietf//dtd html 3.2// | -//ietf//dtd html 3// | -//ietf//dtd html level 0// |
  -//ietf//dtd html level 1// | -//ietf//dtd html level 2// | -//ietf//dtd html level 3// |
  -//ietf//dtd html strict level 0// | -//ietf//dtd html strict level 1// | -//ietf//dtd html strict level 2// |
  -//ietf//dtd html strict level 3// | -//ietf//dtd html strict// | -//ietf//dtd html// |
  -//metrius//dtd metrius presentational// | -//microsoft//dtd internet explorer 2.0 html strict// |
  -//microsoft//dtd internet explorer 2.0 html// | -//microsoft//dtd internet explorer 2.0 tables// |
  -//microsoft//dtd internet explorer 3.0 html strict// | -//microsoft//dtd internet explorer 3.0 html// |
  -//microsoft//dtd internet explorer 3.0 tables// | -//netscape comm. corp.//dtd html// |
  -//netscape comm. corp.//dtd strict html// | -//o'reilly and associates//dtd html 2.0// |
  -//o'reilly and associates//dtd html extended 1.0// | -//o'reilly and associates//dtd html extended relaxed 1.0// |
  -//sq//dtd html 2.0 hotmetal + extensions// |
  -//softquad software//dtd hotmetal pro 6.0::19990601::extensions to html 4.0// |
  -//softquad//dtd hotmetal pro 4.0::19971010::extensions to html 4.0// | -//spyglass//dtd html 2.0 extended// |
  -//sun microsystems corp.//dtd hotjava html// | -//sun microsystems corp.//dtd hotjava strict html// |
  -//w3c//dtd html 3 1995-03-24// | -//w3c//dtd html 3.2 draft// | -//w3c//dtd html 3.2 final// |
  -//w3c//dtd html 3.2// | -//w3c//dtd html 3.2s draft// | -//w3c//dtd html 4.0 frameset// |
  -//w3c//dtd html 4.0 transitional// | -//w3c//dtd html experimental 19960712// |
  -//w3c//dtd html experimental 970421// | -//w3c//dtd w3 html// | -//w3o//dtd w3 html 3.0// |
  -//webtechs//dtd mozilla html 2.0// | -//webtechs//dtd mozilla html//`.split(/ \|\s+/);
const quirksIds = ["-//w3o//dtd w3 html strict 3.0//en//", "-/w3c/dtd html 4.0 transitional/en", "html"];
const quirksSystemId = "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd";
const limitedPrefixes = ["-//w3c//dtd xhtml 1.0 frameset//", "-//w3c//dtd xhtml 1.0 transitional//"];
/** Quirks where there is no system identifier, limited quirks where there is one. */
const html4Prefixes = ["-//w3c//dtd html 4.01 frameset//", "-//w3c//dtd html 4.01 transitional//"];

/** The mode of a document that has this doctype (HTML Standard, 13.2.6.4.1). */
export function modeOf({ name, publicId, systemId, forcesQuirks }: Doctype): "no-quirks" | "quirks" | "limited-quirks" {
  if (forcesQuirks || name !== "html" || systemId?.toLowerCase() === quirksSystemId) return "quirks";
  if (!publicId) return "no-quirks";
  const id = publicId.toLowerCase();
  const beginsWith = (prefix: string): boolean => id.startsWith(prefix);
  if (quirksIds.includes(id) || quirksPrefixes.some(beginsWith)) return "quirks";
  if (html4Prefixes.some(beginsWith)) return systemId === null ? "quirks" : "limited-quirks";
  return limitedPrefixes.some(beginsWith) ? "limited-quirks" : "no-quirks";
}
