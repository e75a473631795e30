import { HttpError } from "../http-error.ts";

const blank = /(?:[ \t\r\n\f]|\/\*[\s\S]*?\*\/)*/y;
// CSS Syntax 3, §4.3.11: an identifier; an escape is a hexadecimal number and one blank, or any other character.
const escapeSequence = String.raw`\\(?:[\da-f]{1,6}(?:\r\n|[ \t\r\n\f])?|[^\r\n\f\da-f])`;
const identifier = new RegExp(
  String.raw`(?:--|-?(?:[a-z_\x80-\uffff]|${escapeSequence}))(?:[\w\x80-\uffff-]|${escapeSequence})*`,
  "iy",
);
const quoted = /"(?:[^"\\\r\n\f]|\\[\s\S])*(?:"|$)|'(?:[^'\\\r\n\f]|\\[\s\S])*(?:'|$)/y;
const escapes = /\\(?:([\da-f]{1,6})(?:\r\n|[ \t\r\n\f])?|(\r\n|[\s\S]))/gi;

/** Reads a selector from left to right by the tokens of CSS Syntax 3, and says where in it something is wrong. */
export class SelectorScanner {
  readonly text: string;
  position: number = 0;

  constructor(text: string) {
    this.text = text;
  }

  identifier(): string | undefined {
    const name = this.match(identifier);
    return name === undefined ? undefined : unescapeCss(name);
  }

  string(): string | undefined {
    const string = this.match(quoted);
    if (string === undefined) return undefined;
    const isClosed = string.length > 1 && string.at(-1) === string[0];
    return unescapeCss(string.slice(1, isClosed ? -1 : undefined));
  }

  /** Reads what `pattern`, a sticky one, finds at the position. */
  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position;
    const match = pattern.exec(this.text)?.[0];
    if (match === undefined) return undefined;
    this.position += match.length;
    return match;
  }

  skipBlank(): boolean {
    return (this.match(blank) ?? "") !== "";
  }

  peek(): string {
    return this.text[this.position] ?? "";
  }

  take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.position += 1;
    return true;
  }

  /** The end of the text closes every bracket (CSS Syntax 3, §5.4). */
  close(bracket: ")" | "]", start: number): void {
    if (this.take(bracket) || this.position >= this.text.length) return;
    throw invalidSelector(
      `"${bracket}" is expected before "${this.partAt(this.position)}"`,
      this.partAt(start),
      this.position,
    );
  }

  atListItemEnd(): boolean {
    const next = this.peek();
    return next === "" || next === "," || next === ")";
  }

  skipListItem(start: number): void {
    this.position = start;
    this.skipBalanced(",)");
  }

  /** Moves to the first of `ends` that stands outside of brackets and strings. */
  skipBalanced(ends: string): void {
    const closers: string[] = [];
    while (this.position < this.text.length) {
      const character = this.peek();
      if (closers.length === 0 && ends.includes(character)) return;
      if (this.match(quoted) !== undefined) continue;
      if (character === "\\") this.position += 1;
      else if (character === "(") closers.push(")");
      else if (character === "[") closers.push("]");
      else if (character === closers.at(-1)) closers.pop();
      this.position += 1;
    }
  }

  unexpected(reason?: string): HttpError {
    const offset = Math.min(this.position, this.text.length);
    if (offset === this.text.length)
      return invalidSelector(reason ?? "it ends too early", this.text.slice(-20), offset);
    return invalidSelector(reason ?? "this is not expected here", this.partAt(offset), offset);
  }

  partAt(offset: number): string {
    const rest = this.text.slice(offset, Math.max(this.position, offset + 1) + 20);
    const [part = ""] = /^(?:[^\s,>+~]\S{0,40}|[\s\S]?)/.exec(rest) ?? [];
    return part;
  }
}

/** The 400 of a selector that a browser would not take. */
export function invalidSelector(reason: string, part: string, offset: number): HttpError {
  return new HttpError(400, "INVALID_SELECTOR", `The selector is not valid at offset ${offset}, "${part}": ${reason}.`);
}

function unescapeCss(text: string): string {
  return text.replace(escapes, (_, hexadecimal: string | undefined, character: string | undefined) => {
    if (hexadecimal === undefined) return /[\r\n\f]/.test(character ?? "") ? "" : (character ?? "");
    const point = Number.parseInt(hexadecimal, 16);
    const isScalar = point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return isScalar ? String.fromCodePoint(point) : "\ufffd";
  });
}
