import { asciiLowerCase, isBlank, resolved } from "./text.ts";

/** Attribute names are the client's: no `constructor` or `toString` to inherit, but still a fast object for V8. */
export const Attributes = function Attributes() {} as unknown as new () => Record<string, string>;
Attributes.prototype = Object.create(null);

/** What an element without attributes has. */
export const noAttributes: Record<string, string> = Object.freeze(new Attributes());

/**
 * Goes through the attributes of a tag (HTML Standard, 13.2.5.32 to 13.2.5.40). What it finds are offsets: most
 * attributes of a page are never asked for, and no strings are made of those.
 */
export class AttributeScanner {
  nameStart = 0;
  nameEnd = 0;
  /** Where the value stands, without quotes; both are 0 without a value. */
  valueStart = 0;
  valueEnd = 0;
  /** Where the scanner stands: at the `>` of the tag once {@link next} says `false`. */
  position = 0;
  isSelfClosing = false;
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  /** Begins behind the name of a tag. */
  begin(position: number): void {
    this.position = position;
    this.isSelfClosing = false;
  }

  /** Goes on to the next attribute; `false` at the end of the tag. `position` is -1 if the tag has no end. */
  next(): boolean {
    const source = this.#source;
    let position = this.position;
    let code = source.charCodeAt(position);
    for (; code <= 0x20 || code === 0x2f; code = source.charCodeAt(position)) {
      if (code <= 0x20 && !isBlank(code)) break;
      position += 1;
      this.isSelfClosing = code === 0x2f;
    }
    if (code === 0x3e) {
      this.position = position;
      return false;
    }
    this.isSelfClosing = false;
    this.nameStart = position;
    // A name can begin with `=`, but not contain it.
    for (code = source.charCodeAt(++position); !endsName(code); code = source.charCodeAt(++position));
    this.nameEnd = position;
    while (isBlank(code)) code = source.charCodeAt(++position);
    this.valueStart = 0;
    this.valueEnd = 0;
    if (code === 0x3d) position = this.#scanValue(position + 1);
    this.position = position;
    if (position < source.length) return true;
    this.position = -1;
    return false;
  }

  /** Gives where the value ends, its quote included; the length of the source where it does not. */
  #scanValue(start: number): number {
    const source = this.#source;
    let position = start;
    let code = source.charCodeAt(position);
    while (isBlank(code)) code = source.charCodeAt(++position);
    if (code === 0x22 || code === 0x27) {
      this.valueStart = position + 1;
      const end = source.indexOf(code === 0x22 ? '"' : "'", position + 1);
      this.valueEnd = end < 0 ? source.length : end;
      return end < 0 ? source.length : end + 1;
    }
    this.valueStart = position;
    // `<a b=>` has an attribute without a value; at the end of the source the code is NaN.
    while (code !== 0x3e && !isBlank(code) && position < source.length) code = source.charCodeAt(++position);
    this.valueEnd = position;
    return position;
  }
}

function endsName(code: number): boolean {
  // The end of the source is NaN, which no comparison holds for.
  return code === 0x3d || code === 0x3e || code === 0x2f || isBlank(code) || Number.isNaN(code);
}

/** The attributes of a start tag; of two with one name the first. `rename` restores capitals in SVG and MathML. */
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

/** Behind the name of the tag that begins at an offset. */
export function endOfTagName(source: string, tagStart: number): number {
  endOfName.lastIndex = tagStart + 1;
  endOfName.test(source);
  return endOfName.lastIndex;
}

const endOfName = /[^\t\n\f\r />]*/y;
