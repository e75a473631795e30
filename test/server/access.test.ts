import { describe, expect, it } from "vitest";
import { HttpError } from "../../src/http/http-error.ts";
import { permitAll, permitsAll, requireReading, rightsOf } from "../../src/server/access.ts";

describe("the rights that a method could need", () => {
  it.each([
    ["GET", ["read", "list"]],
    ["HEAD", ["read", "list"]],
    ["PUT", ["overwrite", "create"]],
    ["POST", ["append", "create"]],
    ["DELETE", ["delete"]],
  ])("are for %s: %s", (method, rights) => {
    expect(rightsOf(method)).toEqual(rights);
  });

  it.each(["OPTIONS", "TRACE", "get", "constructor", "__proto__", ""])("are all of them for %o", (method) => {
    expect(rightsOf(method)).toEqual(["read", "list", "create", "overwrite", "append", "delete"]);
  });
});

it("judges a file with the content of another one in a coding as that, too; an archive is a file of its own", () => {
  const isOther = (path: string): boolean => path !== "/a.html" && path !== "/a.tar";
  const verdicts = ["/a.html", "/a.html.gz", "/a.html.BR", "/a.html.zst", "/a.html.zip", "/a.tar.gz", "/b.html.gz"];
  expect(verdicts.map((path) => permitsAll(path, isOther))).toEqual([false, false, false, false, true, true, true]);
});

it.each(["GET", "HEAD"])("lets %s pass", (method) => {
  expect(() => requireReading({ method, path: "/metrics", access: permitAll })).not.toThrow();
});

it("answers another method with 405 and what is supported", () => {
  expect(() => requireReading({ method: "PUT", path: "/metrics", access: permitAll })).toThrow(
    expect.objectContaining({ status: 405, code: "METHOD_NOT_ALLOWED", headers: { allow: "GET, HEAD" } }),
  );
});

it("refuses before it says what is supported", () => {
  const refusal = new HttpError(401, "UNAUTHORIZED", "Sign in.");
  const access = { permitsPath: () => false, permitsElements: () => false, refusal: () => refusal };
  expect(() => requireReading({ method: "PUT", path: "/metrics", access })).toThrow(refusal);
});
