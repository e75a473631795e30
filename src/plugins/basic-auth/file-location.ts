import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The absolute path of a file that is given as a `file://` URL or as a path, which may be relative to the working
 * directory. Throws an `Error` whose message says what was expected in place of anything else.
 */
export function fileLocation(location: string): string {
  if (location.trim() === "") throw new Error("expected a path or a file:// URL, not an empty text");
  if (location.includes("\0")) throw new Error("expected a path or a file:// URL without NUL characters");
  if (/^file:/i.test(location)) return pathOfUrl(location);
  // `C:\users.html` is a path on Windows; a scheme has more than one letter.
  const [scheme] = /^[a-z][a-z0-9+.-]+:\/\//i.exec(location) ?? [];
  if (scheme !== undefined) throw new Error(`expected a path or a file:// URL, not ${scheme}`);
  return resolve(location);
}

function pathOfUrl(location: string): string {
  // `file:users.html` and `file://users.html` look relative, but mean `/users.html` and a host of that name.
  const expected = new Error("expected a file:// URL of a file on this machine, such as file:///srv/users.html");
  if (!/^file:\/\/(?:localhost)?\//i.test(location)) throw expected;
  try {
    const path = fileURLToPath(location);
    if (!path.includes("\0")) return path;
  } catch (cause) {
    throw new Error(expected.message, { cause });
  }
  throw expected;
}
