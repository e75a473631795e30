import { DecodingMode, EntityDecoder, htmlDecodeTree } from "entities/decode";

/** What the last reference that was read stands for. */
let text = "";
const decoder = new EntityDecoder(htmlDecodeTree, (codePoint) => {
  text += String.fromCodePoint(codePoint);
});

/**
 * Reads the character reference that an `&` at an offset begins. Gives how many characters it has, 0 where it is none;
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

/** A text with line feeds for all its line ends, and U+FFFD for NUL. */
export function normalised(raw: string): string {
  const lines = raw.includes("\r") ? raw.replace(/\r\n?/g, "\n") : raw;
  return lines.includes("\0") ? lines.replaceAll("\0", "\ufffd") : lines;
}
