import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** What a location has to look like, for messages. */
export const expectedLocation = "a path or a file:// location";

/**
 * The absolute path that a location means: a plain path, or one of the scheme `file:`. Either may be relative to
 * `directory`, by default the working directory. `undefined` for other schemes, and for what no file can be called.
 */
export function filePath(location: string, directory: string = process.cwd()): string | undefined {
  if (location === "" || location.includes("\0")) return undefined;
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]+):(.*)$/is.exec(location) ?? []; // `C:\site` is a path
  if (scheme === undefined) return resolve(directory, location);
  if (scheme.toLowerCase() !== "file" || rest === "") return undefined;
  try {
    const path = fileURLToPath(urlOf(rest, directory));
    return path.includes("\0") ? undefined : path;
  } catch {
    return undefined; // an escaped slash, or a malformed escape
  }
}

/** To a browser the `.` of `file://./users.html` is a computer; in the interface specification it is relative. */
function urlOf(rest: string, directory: string): URL {
  const path = rest.replace(/^\/\/(?:localhost(?=\/))?/i, "");
  const base = pathToFileURL(`${directory}/`);
  return new URL(path.startsWith("/") ? `file://${path}` : `./${path}`, base);
}
