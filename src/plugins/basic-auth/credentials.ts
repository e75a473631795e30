import { parse } from "basic-auth";

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** As much as all of a request's header fields together may have in Node; `fetch` has no limit of its own. */
const maxLength = 16_384;

// RFC 7617 §2: neither may contain control characters. A name would end up in logs; a NUL ends a hashed password.
const control = /[\x00-\x1f\x7f-\x9f]/;
// What stands for bytes that are not UTF-8: different bytes would be the same password.
const replacement = "\ufffd";

/**
 * Reads an `Authorization` field of the Basic scheme (RFC 7617), given how often it was sent. The user name ends at the
 * first colon, the password may have more; both are UTF-8, as the challenge asks for. `"none"`: there is no such field;
 * `"unreadable"`: it says something, but no name and password.
 */
export function readCredentials(field: string | undefined, count: number): Credentials | "none" | "unreadable" {
  if (field === undefined && count === 0) return "none";
  if (field === undefined || count > 1 || field.length > maxLength) return "unreadable";
  const credentials = parse(field);
  if (!credentials) return "unreadable";
  const { name, pass } = credentials;
  const text = `${name}:${pass}`;
  return control.test(text) || text.includes(replacement) ? "unreadable" : { username: name, password: pass };
}
