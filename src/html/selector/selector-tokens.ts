/** A token of CSS Syntax 3, §4, and where it stands. */
export interface SelectorToken {
  readonly kind: TokenKind;
  /** Names and strings without their escapes, a number's unit; what was written for all others. */
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** `"delim"`: a character or `|=` and its like, also brackets and commas; `"other"`: what no selector can use. */
export type TokenKind =
  | "ident"
  | "function"
  | "hash"
  | "string"
  | "number"
  | "dimension"
  | "space"
  | "delim"
  | "other"
  | "end";

// A blank ends a hexadecimal escape; a line end cannot be escaped.
const escapeSequence = String.raw`\\(?:[\da-f]{1,6}(?:\r\n|[ \t\r\n\f])?|[^\r\n\f\da-f]|$)`;
const nameCharacters = String.raw`(?:[\w\x00\x80-\uffff-]|${escapeSequence})`;
const identifier = String.raw`(?:--|-?(?:[a-z_\x00\x80-\uffff]|${escapeSequence}))${nameCharacters}*`;
const numeric = String.raw`[+-]?(?:\d*\.\d+|\d+)(?:e[+-]?\d+)?`;

/** Characters that begin nothing else. */
const simpleDelims = ":>,()[]";

const patterns = {
  space: /[ \t\r\n\f]+/y,
  comment: /\/\*[\s\S]*?(?:\*\/|$)/y,
  // The end of the text closes a string as well.
  string: /"((?:[^"\\\r\n\f]|\\(?:\r\n|[\s\S]|$))*)(?:"|$)|'((?:[^'\\\r\n\f]|\\(?:\r\n|[\s\S]|$))*)(?:'|$)/y,
  // A line end stands in it.
  badString: /["'](?:[^\\\r\n\f]|\\[\s\S])*/y,
  htmlComment: /<!--|-->/y,
  number: new RegExp(numeric, "iy"),
  identifier: new RegExp(identifier, "iy"),
  hash: new RegExp(`#${nameCharacters}+`, "iy"),
  atKeyword: new RegExp(`@${identifier}`, "iy"),
  // Their two characters belong together: no comment can stand between them.
  pair: /[~|^$*]=|\|\|/y,
  // Up to the first `)`, unless a quoted string follows: then it is a function like any other.
  urlContent: /(?![ \t\r\n\f]*["'])(?:[^)\\]|\\[\s\S]?)*\)?/y,
} as const;

const hashIdentifier = new RegExp(`^${identifier}$`, "i");
const escapes = /\\(?:([\da-f]{1,6})(?:\r\n|[ \t\r\n\f])?|(\r\n|[\s\S])|$)|\x00/gi;

/** The tokens of a selector, without its comments; the last one is the end. */
export function tokenize(text: string): SelectorToken[] {
  const tokens: SelectorToken[] = [];
  let start = 0;
  while (start < text.length) {
    const comment = matchAt(patterns.comment, text, start);
    const token = comment === undefined ? tokenAt(text, start) : undefined;
    if (token && !(token.kind === "space" && tokens.at(-1)?.kind === "space")) tokens.push(token);
    start = token?.end ?? start + (comment?.length ?? 1);
  }
  tokens.push({ kind: "end", value: "", start, end: start });
  return tokens;
}

function tokenAt(text: string, start: number): SelectorToken {
  const token = (kind: TokenKind, written: string, value: string = written): SelectorToken => ({
    kind,
    value,
    start,
    end: start + written.length,
  });
  if (simpleDelims.includes(text.charAt(start))) return token("delim", text.charAt(start));
  const space = matchAt(patterns.space, text, start);
  if (space !== undefined) return token("space", space);
  patterns.string.lastIndex = start;
  const string = patterns.string.exec(text);
  if (string) return token("string", string[0], unescapeCss(string[1] ?? string[2] ?? "", ""));
  const other =
    matchAt(patterns.badString, text, start) ??
    matchAt(patterns.htmlComment, text, start) ??
    matchAt(patterns.atKeyword, text, start);
  if (other !== undefined) return token("other", other);
  const number = matchAt(patterns.number, text, start);
  if (number !== undefined) return numberToken(text, start, number);
  const name = matchAt(patterns.identifier, text, start);
  if (name !== undefined) return nameToken(text, start, name);
  const hash = matchAt(patterns.hash, text, start);
  if (hash !== undefined) {
    const isId = hashIdentifier.test(hash.slice(1));
    return token(isId ? "hash" : "other", hash, unescapeCss(hash.slice(1)));
  }
  return token("delim", matchAt(patterns.pair, text, start) ?? text.charAt(start));
}

function numberToken(text: string, start: number, number: string): SelectorToken {
  const unitStart = start + number.length;
  if (text[unitStart] === "%") return { kind: "other", value: number, start, end: unitStart + 1 };
  const unit = matchAt(patterns.identifier, text, unitStart);
  if (unit === undefined) return { kind: "number", value: number, start, end: unitStart };
  return { kind: "dimension", value: number + unescapeCss(unit), start, end: unitStart + unit.length };
}

function nameToken(text: string, start: number, written: string): SelectorToken {
  const value = unescapeCss(written);
  const end = start + written.length;
  if (text[end] !== "(") return { kind: "ident", value, start, end };
  const url = value.toLowerCase() === "url" ? matchAt(patterns.urlContent, text, end + 1) : undefined;
  if (url !== undefined) return { kind: "other", value, start, end: end + 1 + url.length };
  return { kind: "function", value, start, end: end + 1 };
}

function matchAt(pattern: RegExp, text: string, start: number): string | undefined {
  pattern.lastIndex = start;
  return pattern.exec(text)?.[0];
}

/** `atEnd` stands for a `\` that nothing follows: nothing in a string, a replacement character in a name. */
function unescapeCss(text: string, atEnd = "\ufffd"): string {
  return text.replace(escapes, (written, hexadecimal: string | undefined, character: string | undefined) => {
    if (written === "\0") return "\ufffd";
    if (character !== undefined) return /[\r\n\f]/.test(character) ? "" : character;
    if (hexadecimal === undefined) return atEnd;
    const point = Number.parseInt(hexadecimal, 16);
    const isScalar = point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return isScalar ? String.fromCodePoint(point) : "\ufffd";
  });
}
