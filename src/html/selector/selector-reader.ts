import { DocumentError } from "../document-error.ts";
import { type SelectorToken, tokenize } from "./selector-tokens.ts";

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Reads the tokens of a selector from left to right, and says where in it something is wrong. */
export class SelectorReader {
  readonly text: string;
  position: number = 0;
  readonly #tokens: readonly SelectorToken[];

  constructor(text: string) {
    this.text = text;
    this.#tokens = tokenize(text);
  }

  get token(): SelectorToken {
    const token = this.#tokens[this.position] ?? this.#tokens.at(-1);
    if (!token) throw new RangeError("A selector has at least one token, its end.");
    return token;
  }

  next(): void {
    this.position += 1;
  }

  isDelim(character: string): boolean {
    const { kind, value } = this.token;
    return kind === "delim" && value === character;
  }

  take(character: string): boolean {
    if (!this.isDelim(character)) return false;
    this.next();
    return true;
  }

  skipSpace(): boolean {
    if (this.token.kind !== "space") return false;
    while (this.token.kind === "space") this.next();
    return true;
  }

  name(): string | undefined {
    return this.#valueOf("ident");
  }

  string(): string | undefined {
    return this.#valueOf("string");
  }

  /** The end of the text closes every bracket (CSS Syntax 3, §5.4). */
  close(bracket: ")" | "]", start: number): void {
    if (this.take(bracket) || this.token.kind === "end") return;
    const { start: offset } = this.token;
    throw invalidSelector(`"${bracket}" is expected before "${this.#partAt(offset)}"`, this.#partAt(start), offset);
  }

  atListItemEnd(): boolean {
    return this.token.kind === "end" || this.isDelim(",") || this.isDelim(")");
  }

  /** Moves from `start` to the comma behind what stands there, or to the end of the list. */
  skipListItem(start: number): void {
    this.position = start;
    this.#skipUntil(",", ")");
  }

  /** The text up to the bracket that closes, trimmed; moves there. */
  textToClose(): string {
    const { start } = this.token;
    this.#skipUntil(")");
    return this.text.slice(start, this.token.start).trim();
  }

  unexpected(reason?: string): DocumentError {
    const { kind, start } = this.token;
    if (kind !== "end") return this.invalid(reason ?? "this is not expected here", start);
    return invalidSelector(reason ?? "it ends too early", this.text.slice(-20), this.text.length);
  }

  invalid(reason: string, offset: number): DocumentError {
    return invalidSelector(reason, this.#partAt(offset), offset);
  }

  #skipUntil(...ends: readonly string[]): void {
    const open: string[] = [];
    for (; this.token.kind !== "end"; this.next()) {
      const { kind, value } = this.token;
      if (kind === "function") open.push(")");
      if (kind !== "delim") continue;
      if (open.length === 0 && ends.includes(value)) return;
      const closer = closers[value];
      if (closer) open.push(closer);
      else if (value === open.at(-1)) open.pop();
    }
  }

  #valueOf(kind: "ident" | "string"): string | undefined {
    const { token } = this;
    if (token.kind !== kind) return undefined;
    this.next();
    return token.value;
  }

  #partAt(offset: number): string {
    const rest = this.text.slice(offset, Math.max(this.token.start, offset + 1) + 20);
    const [part = ""] = /^(?:[^\s,>+~]\S{0,40}|[\s\S]?)/.exec(rest) ?? [];
    return part;
  }
}

/** The error for a selector that a browser would not take. */
export function invalidSelector(reason: string, part: string, offset: number): DocumentError {
  return new DocumentError("INVALID_SELECTOR", `The selector is not valid at offset ${offset}, "${part}": ${reason}.`);
}
