import { describe, expect, it } from "vitest";
import { permitAll, rightsOf } from "../../src/server/access.ts";

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

  it.each(["OPTIONS", "PATCH", "get", "constructor", "__proto__", ""])("are all of them for %o", (method) => {
    expect(rightsOf(method)).toEqual(["read", "list", "create", "overwrite", "append", "delete"]);
  });
});

describe("the default access", () => {
  it("permits everything, and would refuse with 403", () => {
    expect(permitAll.permits("delete", "/a")).toBe(true);
    expect(permitAll.refusal()).toMatchObject({ status: 403, code: "FORBIDDEN" });
  });
});
