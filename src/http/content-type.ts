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
  ...Object.entries(mimeTypes.types).map(
    ([extension, type]) => [extension, type.startsWith("text/") ? `${type}; charset=utf-8` : type] as const,
  ),
  ...Object.entries(specifiedTypes),
]);

// RFC 9110 §8.3.1
const token = "[\\w!#$%&'*+.^`|~-]+";
const mediaType = new RegExp(`^${token}/${token}(?: *; *${token}=(?:${token}|"[ !#-[\\]-~]*"))*$`);

export function isMediaType(text: string): boolean {
  return mediaType.test(text);
}

export function isExtension(text: string): boolean {
  return /^\.?[^./\\\s]+$/.test(text);
}

/**
 * A function from a path to its `Content-Type`, which follows from the extension, in upper or lower case: `overrides`
 * by extension, with or without its dot; the stored type; the interface specification's table; the registry.
 */
export function contentTypeTable(overrides: Readonly<Record<string, string>>): ContentTypeOf {
  const own = new Map(Object.entries(overrides).map(([key, type]) => [key.replace(/^\./, "").toLowerCase(), type]));
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
