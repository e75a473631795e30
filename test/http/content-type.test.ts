import { describe, expect, test } from "vitest";
import { contentTypeTable } from "../../src/http/content-type.ts";

describe("contentTypeTable", () => {
  const typeOf = contentTypeTable({});

  test.each([
    ["html", "text/html; charset=utf-8"],
    ["htm", "text/html; charset=utf-8"],
    ["json", "application/json"],
    ["xml", "application/xml"],
    ["txt", "text/plain; charset=utf-8"],
    ["css", "text/css"],
    ["js", "application/javascript"],
    ["jpg", "image/jpeg"],
    ["jpeg", "image/jpeg"],
    ["png", "image/png"],
    ["gif", "image/gif"],
    ["pdf", "application/pdf"],
  ])("gives .%s the type that the interface specifies", (extension, type) => {
    expect(typeOf(`/a.${extension}`)).toBe(type);
    expect(typeOf(`/a.b/c.${extension.toUpperCase()}`)).toBe(type);
  });

  test.each([
    ["/a.svg", "image/svg+xml"],
    ["/a.md", "text/markdown; charset=utf-8"],
    ["/a.csv", "text/csv; charset=utf-8"],
    ["/a.mjs", "text/javascript; charset=utf-8"],
    ["/a.woff2", "font/woff2"],
    ["/a.wasm", "application/wasm"],
    ["/a.tar.gz", "application/gzip"],
    ["/.config.json", "application/json"],
  ])("knows %s from the registry", (path, type) => {
    expect(typeOf(path)).toBe(type);
  });

  test.each([
    "/a",
    "/",
    "/a.html/",
    "/a.html/b",
    "/.html",
    "/a/.gitignore",
    "/a.",
    "/a.unheardof",
    "/a.constructor",
    "/a.__proto__",
    "/a.toString",
  ])("does not know %s", (path) => {
    expect(typeOf(path)).toBe("application/octet-stream");
  });

  test("lets overrides win, with or without a dot, in any case", () => {
    const overridden = contentTypeTable(
      Object.freeze({ ".MD": "text/plain", foo: 'a/b; charset=utf-8; x="y z"', ".html": "application/xhtml+xml" }),
    );
    expect(overridden("/a.md")).toBe("text/plain");
    expect(overridden("/a.Foo")).toBe('a/b; charset=utf-8; x="y z"');
    expect(overridden("/a.html")).toBe("application/xhtml+xml");
    expect(overridden("/a.htm")).toBe("text/html; charset=utf-8");
  });
});
