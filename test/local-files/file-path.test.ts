import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { filePath } from "../../src/local-files/file-path.ts";

const path = (location: string): string | undefined => filePath(location, "/etc/filement");

describe("filePath", () => {
  it.each([
    ["file://./users.html", "/etc/filement/users.html"],
    ["file://../site", "/etc/site"],
    ["file:./users.html", "/etc/filement/users.html"],
    ["file:users.html", "/etc/filement/users.html"],
    ["file://users.html", "/etc/filement/users.html"],
    ["file://plugins/limit.mjs", "/etc/filement/plugins/limit.mjs"],
    ["FILE://./users.html", "/etc/filement/users.html"],
    ["./users.html", "/etc/filement/users.html"],
    ["users.html", "/etc/filement/users.html"],
    ["..", "/etc"],
    [".", "/etc/filement"],
  ])("takes %s for relative", (location, expected) => {
    expect(path(location)).toBe(resolve(expected));
  });

  it.each(["/srv/site", "file://*", "file:*", "file://localhost*", "file://*/../site"])(
    "takes %s for absolute",
    (pattern) => {
      const { pathname } = pathToFileURL("/srv/site"); // with a drive on Windows
      expect(path(pattern.replace("*", pathname))).toBe(resolve("/srv/site"));
    },
  );

  it.each([
    ["file://./a%20b.html", "/etc/filement/a b.html"],
    ["file://./a%23b", "/etc/filement/a#b"],
    ["file://./a b.html", "/etc/filement/a b.html"],
    ["file://./%C3%BC.html", "/etc/filement/ü.html"],
    ["a%20b.html", "/etc/filement/a%20b.html"],
    ["a#b?c", "/etc/filement/a#b?c"],
    ["./notes:2024", "/etc/filement/notes:2024"],
  ])("decodes %s where it is a URL, and takes a path as it is", (location, expected) => {
    expect(path(location)).toBe(resolve(expected));
  });

  it.each([
    "",
    "file:",
    "http://example.org/users.html",
    "https://example.org/users.html",
    "data:text/html,x",
    "node:fs",
    "ftp://x/y",
    "javascript:alert(1)",
    "file:///a%2Fb",
    "file://./a%2fb",
    "file:///a%zz",
    "file:///a%00b",
    "a\0b",
    "http:\n//x",
  ])("gives nothing for %j", (location) => {
    expect(path(location)).toBeUndefined();
  });
});
