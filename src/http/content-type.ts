import { inspect } from "node:util";
import mimeTypes from "mime-types";

const unknownType = "application/octet-stream";

/** The interface specification's own table; the registry differs for css and js. */
const specifiedTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  htm: "text/html; charset=utf-8",
  json: "application/json",
  xml: "application/xml",
  txt: "text/plain; charset=utf-8",
  css: "text/css",
  js: "application/javascript",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  png: "image/png",
  gif: "image/gif",
  pdf: "application/pdf",
};

// A fixed table, not a cache that clients could grow with invented extensions.
const builtInTypes: ReadonlyMap<string, string> = new Map([
  ...Object.entries(mimeTypes.types).map(withCharset),
  ...Object.entries(specifiedTypes),
]);

const extensionName = /^[^./\\\s]+$/;
// RFC 9110 §8.3.1
const token = "[\\w!#$%&'*+.^`|~-]+";
const mediaType = new RegExp(`^${token}/${token}(?: *; *${token}=(?:${token}|"[ !#-[\\]-~]*"))*$`);

/**
 * A function from a path to its `Content-Type`, which follows from the extension, in upper or lower case. `overrides`
 * come first, by extension with or without its dot (`{ ".md": "text/markdown; charset=utf-8" }`); then the stored type;
 * then the interface specification's table; then the registry, text in UTF-8. An unknown extension is
 * `application/octet-stream`.
 *
 * Throws a `TypeError` for an override that is not an extension and a media type.
 */
export function contentTypeTable(overrides: Readonly<Record<string, string>>): ContentTypeOf {
  const own = new Map(Object.entries(overrides).map(checkOverride));
  return (path, stored) => {
    const extension = extensionOf(path);
    const known = stored !== undefined && mediaType.test(stored) ? stored : builtInTypes.get(extension);
    return own.get(extension) ?? known ?? unknownType;
  };
}

/** The `Content-Type` of a path; `stored` is the one that a storage keeps with the file. */
export type ContentTypeOf = (path: string, stored?: string) => string;

/** `"html"` for `/a/Page.HTML`; `""` for `/a/`, `/Makefile`, `/.gitignore` and `/a.`. */
function extensionOf(path: string): string {
  const dot = path.lastIndexOf(".");
  const slash = path.lastIndexOf("/");
  return dot > slash + 1 ? path.slice(dot + 1).toLowerCase() : "";
}

function withCharset([extension, type]: readonly [string, string]): [string, string] {
  return [extension, type.startsWith("text/") ? `${type}; charset=utf-8` : type];
}

function checkOverride([key, type]: readonly [string, unknown]): [string, string] {
  const extension = key.startsWith(".") ? key.slice(1) : key;
  if (!extensionName.test(extension)) {
    throw new TypeError(`contentTypes: ${JSON.stringify(key)} is not a file extension such as ".md"`);
  }
  if (typeof type !== "string" || !mediaType.test(type)) {
    throw new TypeError(
      `contentTypes[${JSON.stringify(key)}]: ${inspect(type)} is not a media type such as "text/plain"`,
    );
  }
  return [extension.toLowerCase(), type];
}
