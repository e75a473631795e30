/** What can be wrong with a document, a selector, an edit, or what they cost. */
export type DocumentErrorCode =
  | "DOCUMENT_TOO_COSTLY"
  | "DOCUMENT_TOO_DEEP"
  | "EDIT_PRECONDITION_FAILED"
  | "INVALID_EDIT"
  | "INVALID_HTML"
  | "INVALID_SELECTOR"
  | "INVALID_TARGET"
  | "NOT_UTF8"
  | "NOT_WELL_FORMED"
  | "RESULT_TOO_LARGE"
  | "SELECTOR_TOO_COSTLY"
  | "TOO_MANY_EDITS"
  | "TOO_MANY_MATCHES"
  | "UNSUPPORTED_ENCODING";

type ErrorPlace = { readonly [Part in "line" | "column" | "index"]?: number | undefined };

/** A document that cannot be parsed, searched or edited as asked; the message says what is wrong. */
export class DocumentError extends Error {
  override readonly name = "DocumentError";
  readonly code: DocumentErrorCode;
  /** Where in the supplied markup the problem is, where it is there; both count from 1. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** Which edit of a list it is about, counted from 0. */
  readonly index: number | undefined;

  constructor(code: DocumentErrorCode, message: string, { line, column, index }: ErrorPlace = {}) {
    super(message);
    this.code = code;
    this.line = line;
    this.column = column;
    this.index = index;
    // Until the trace is read, V8 keeps its frames, and with them the tree that was being built.
    void this.stack;
  }
}

/** The error for supplied HTML that cannot be used. */
export function invalidHtml(reason: string, line: number, column: number): DocumentError {
  const details = `The supplied HTML is not valid: ${reason} (line ${line}, column ${column}).`;
  return new DocumentError("INVALID_HTML", details, { line, column });
}
