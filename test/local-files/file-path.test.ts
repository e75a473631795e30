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
    expect(path(location)).toBe(expected);
  });

  it.each([
    ["/srv/site", "/srv/site"],
    ["file:///srv/site", "/srv/site"],
    ["file:/srv/site", "/srv/site"],
    ["file://localhost/srv/site", "/srv/site"],
    ["file:///srv/a/../site", "/srv/site"],
  ])("takes %s for absolute", (location, expected) => {
    expect(path(location)).toBe(expected);
  });

  it.each([
    ["file://./a%20b.html", "/etc/filement/a b.html"],
    ["file:///a%23b", "/a#b"],
    ["file://./a b.html", "/etc/filement/a b.html"],
    ["file://./%C3%BC.html", "/etc/filement/ü.html"],
  ])("decodes %s, which is a URL", (location, expected) => {
    expect(path(location)).toBe(expected);
  });

  it.each([
    ["a%20b.html", "/etc/filement/a%20b.html"],
    ["a#b?c", "/etc/filement/a#b?c"],
    ["./notes:2024", "/etc/filement/notes:2024"],
  ])("takes %s as it is, which is a path", (location, expected) => {
    expect(path(location)).toBe(expected);
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
