import { ConfigError } from "../config.ts";

/** Collects what is wrong with a configuration page, so that all of it is reported at once, in the order of lines. */
export class Problems {
  readonly #file: string;
  readonly #all: { readonly line: number; readonly text: string }[];
  readonly #subject: string;
  /** Whether anything was added by way of this very object. */
  hasOwn = false;

  /** `file` is how messages call the page. */
  constructor(file: string, all: { line: number; text: string }[] = [], subject = "") {
    this.#file = file;
    this.#all = all;
    this.#subject = subject;
  }

  /** Adds to the same collection; each text begins with what it is about. */
  about(subject: string): Problems {
    return new Problems(this.#file, this.#all, `${subject}: `);
  }

  /** `line` is 0 for what is about the whole file. */
  add(line: number, text: string): void {
    this.hasOwn = true;
    this.#all.push({ line, text: this.#subject + text });
  }

  /** Throws one {@link ConfigError} with everything that was added, if anything was. */
  throwAny(): void {
    if (this.#all.length > 0) this.#throwAll();
  }

  /** Adds what makes it pointless to go on, and throws. */
  fail(line: number, text: string): never {
    this.add(line, text);
    return this.#throwAll();
  }

  #throwAll(): never {
    const inOrder = [...this.#all].sort((a, b) => a.line - b.line);
    const texts = inOrder.map(({ line, text }) => `${this.#file}${line === 0 ? "" : `:${line}`}: ${text}`);
    throw new ConfigError([...new Set(texts)]); // an item that several hosts refer to is complained about once
  }
}

export function shown(text: string): string {
  const longest = 80;
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest)}...` : text);
}
