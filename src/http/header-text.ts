import { Buffer } from "node:buffer";

// A byte order mark at the start is part of the value: dropping it would make two different names one.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const ascii = /^[\x00-\x7f]*$/;
const beyondLatin1 = /[^\x00-\xff]/;

/**
 * The text of a header value that was sent as UTF-8. Node hands header bytes over as latin1, one character each, so that
 * `é` arrives as `Ã©`; this reads them again. `undefined` where the bytes are not valid UTF-8.
 */
export function utf8Header(value: string): string | undefined {
  if (ascii.test(value)) return value;
  // Not a string of bytes. As bytes it would be cut to its low halves: U+012F would turn into "/".
  if (beyondLatin1.test(value)) return undefined;
  try {
    return utf8.decode(Buffer.from(value, "latin1"));
  } catch {
    return undefined; // The decoder's only complaint is invalid UTF-8.
  }
}
