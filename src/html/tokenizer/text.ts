import { DecodingMode, HtmlEntityDecoder } from "entities/decode";

/** Whether a code is white space to HTML. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c;
}

/** What the last reference that was read stands for. */
let text = "";
const decoder = new HtmlEntityDecoder((codePoint) => {
  text += String.fromCodePoint(codePoint);
});

/**
 * Reads the character reference that an `&` at an offset begins. Gives its length, 0 if it is not a reference;
 * `referenceText()` is what it stands for. In an attribute, `&copy=1` is text.
 */
export function readReference(source: string, offset: number, place: "text" | "attribute"): number {
  text = "";
  decoder.startEntity(place === "text" ? DecodingMode.Legacy : DecodingMode.Attribute);
  const length = decoder.write(source, offset + 1);
  return length < 0 ? decoder.end() : length;
}

/** What the reference stands for that was read last. */
export function referenceText(): string {
  return text;
}

/** A piece of a source as an attribute or an RCDATA element has it: references, line ends and NULs in their place. */
export function resolved(raw: string, place: "text" | "attribute"): string {
  const plain = normalised(raw);
  let amp = plain.indexOf("&");
  if (amp < 0) return plain;
  const parts: string[] = [];
  let position = 0;
  for (; amp >= 0; amp = plain.indexOf("&", amp + 1)) {
    const length = readReference(plain, amp, place);
    if (length === 0) continue;
    parts.push(plain.slice(position, amp), text);
    position = amp + length;
    amp = position - 1;
  }
  parts.push(plain.slice(position));
  return parts.join("");
}

/** In which each replacement of a string, at 90 ns, would take too long together. */
const longText = 128 * 1024;

/** A text with line feeds for all its line ends, and U+FFFD for NUL. */
export function normalised(raw: string): string {
  if (raw.length > longText && /[\r\0]/.test(raw)) return normalisedUnits(raw);
  const lines = raw.includes("\r") ? raw.replace(/\r\n?/g, "\n") : raw;
  return lines.includes("\0") ? lines.replaceAll("\0", "\ufffd") : lines;
}

function normalisedUnits(raw: string): string {
  const parts: string[] = [];
  const units = new Uint16Array(4096);
  let count = 0;
  const flush = (): void => {
    parts.push(Reflect.apply(String.fromCharCode, null, units.subarray(0, count)));
    count = 0;
  };
  for (let i = 0; i < raw.length; i += 1) {
    const code = raw.charCodeAt(i);
    if (code === 0x0a && raw.charCodeAt(i - 1) === 0x0d) continue;
    units[count++] = code === 0x0d ? 0x0a : code === 0 ? 0xfffd : code;
    if (count === units.length) flush();
  }
  flush();
  return parts.join("");
}

/** No mark that matters is longer. */
const longestMark = "</script".length + 1;

/** Finds where the content of an element ends that holds text only, a stretch of the source after the other. */
export interface RawTextEnd {
  /** The offset of the end tag, where it begins before `to`; each call goes on from the `to` of the last. */
  search(to: number): number | undefined;
}

/** The end of `title`, `style` and the like: the first end tag of that name (HTML Standard, 13.2.5.9 to 13.2.5.14). */
export function endOfRawText(source: string, from: number, name: string): RawTextEnd {
  return endByMarks(/<\//g, source, from, (_mark, index) => isTagAt(source, index + 2, name));
}

/** The end of a `script`: between `<!--` and `-->`, `<script` begins another, whose end tag is text (13.2.5.15 on). */
export function endOfScript(source: string, from: number): RawTextEnd {
  let isInComment = false;
  let isInScript = false;
  return endByMarks(/<!(?=--)|-->|<\/?script/gi, source, from, (mark, index) => {
    if (mark === "<!") isInComment = true;
    else if (mark === "-->") {
      isInComment = false;
      isInScript = false;
    } else if (mark.startsWith("</")) {
      if (!isTagAt(source, index + 2, "script")) return false;
      if (!isInScript) return true;
      isInScript = false;
    } else if (isInComment && isTagAt(source, index + 1, "script")) isInScript = true;
    return false;
  });
}

/** Goes through the marks from an offset on, up to the first that is the end. */
function endByMarks(
  marks: RegExp,
  source: string,
  from: number,
  isEnd: (mark: string, index: number) => boolean,
): RawTextEnd {
  let position = from;
  return {
    search(to) {
      const stretch = source.slice(position, to + longestMark);
      marks.lastIndex = 0;
      for (let mark = marks.exec(stretch); mark; mark = marks.exec(stretch)) {
        const index = position + mark.index;
        if (index >= to) break;
        if (isEnd(mark[0], index)) return index;
      }
      position = to;
      return undefined;
    },
  };
}

/** Whether a name stands there that is a whole one, followed by what ends the name of a tag. */
function isTagAt(source: string, start: number, name: string): boolean {
  const end = start + name.length;
  const after = source.charCodeAt(end);
  if (!isBlank(after) && after !== 0x2f && after !== 0x3e) return false;
  return source.slice(start, end).toLowerCase() === name;
}

/** Up to here a regular expression is faster than memory of its own; for a million letters it takes 100 ms. */
const maxReplaced = 256;

/** Lower case in which only `A` to `Z` change: `K`, the sign for kelvin, is no `k` to HTML. */
export function asciiLowerCase(text: string): string {
  if (!/[^\x00-\x7f]/.test(text)) return text.toLowerCase();
  if (text.length <= maxReplaced) return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const units = Buffer.from(text, "utf16le");
  for (let index = 0; index < units.length; index += 2) {
    const unit = units.readUInt16LE(index);
    if (unit >= 0x41 && unit <= 0x5a) units.writeUInt16LE(unit + 0x20, index);
  }
  return units.toString("utf16le");
}
