import { randomUUID } from "node:crypto";

// Safe to repeat in a header, a log line and a file name.
const usableId = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * The client's `X-Request-ID` if it is 1 to 128 letters, digits, dots, underscores and dashes; otherwise a new UUID.
 */
export function requestId(header: string | undefined): string {
  return header !== undefined && usableId.test(header) ? header : randomUUID();
}
