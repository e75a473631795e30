import { Buffer } from "node:buffer";

// Nearly all values need no escape: testing first is several times faster than replacing.
const plain = /^[ !#-[\]-~]*$/;
const notPlain = /[^ !#-[\]-~]/g;
const plainWord = /^[!#-[\]-~]*$/;
const notPlainWord = /[^!#-[\]-~]/g;
const printable = /^[ -~]*$/;
const beyondAscii = /[^\x00-\x7f]/;
const beyondLatin1 = /[^\x00-\xff]/;

/**
 * What would end a line, steer a terminal, or show text other than it is written: control characters, line separators,
 * and the invisible format characters, among them those that turn the direction of writing.
 */
const treacherous = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Bytes (latin1) for a place in quotes: all but printable ASCII as `\xHH`, and so the quote and the backslash. Apache
 * writes `\"` there, at which a reader that takes the next quote for the end loses its place.
 */
export function escapedBytes(bytes: string): string {
  return plain.test(bytes) ? bytes : asBytes(bytes).replace(notPlain, hex);
}

/** Bytes (latin1) for a place that ends with a space, escaped as {@link escapedBytes} does. */
export function escapedWord(bytes: string): string {
  return plainWord.test(bytes) ? bytes : asBytes(bytes).replace(notPlainWord, hex);
}

/** The UTF-8 bytes of a text, as latin1. */
export function bytesOfText(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
}

/** Text or JSON in which everything treacherous is written as `\uHHHH`, which in JSON means the same. */
export function escapedText(text: string): string {
  if (printable.test(text)) return text;
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(treacherous, (character) => character.split("").map(escaped).join(""));
}

/** Not every host program hands over bytes. Cut to its low half, U+012F would turn into "/". */
function asBytes(value: string): string {
  return beyondLatin1.test(value) ? bytesOfText(value) : value;
}

function hex(byte: string): string {
  return `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
