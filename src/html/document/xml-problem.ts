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
