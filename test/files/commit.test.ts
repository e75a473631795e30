import { describe, expect, it } from "vitest";
import { preconditionCheck } from "../../src/files/commit.ts";
import type { Exchange } from "../../src/server/exchange.ts";
import type { StoredStat } from "../../src/storage/storage.ts";

const file: StoredStat = { type: "file", size: 5, modified: new Date("2025-03-04T05:06:07.089Z"), version: "v1" };
const asked = (headers: Record<string, string>): Exchange =>
  ({ method: "PUT", headers }) as Partial<Exchange> as Exchange;

describe("the precondition check", () => {
  it("judges what is stored when it is called", () => {
    const check = preconditionCheck(asked({ "if-match": '"v1"' }));
    expect(() => check(file)).not.toThrow();
    expect(() => check({ ...file, version: "v2" })).toThrow(expect.objectContaining({ status: 412 }));
    expect(() => check(undefined)).toThrow(expect.objectContaining({ status: 412 }));
  });

  it("takes a directory for something that is there", () => {
    const directory: StoredStat = { ...file, type: "directory", size: 0 };
    expect(() => preconditionCheck(asked({ "if-match": "*" }))(directory)).not.toThrow();
    expect(() => preconditionCheck(asked({ "if-none-match": "*" }))(directory)).toThrow();
  });

  it("tells the tag of what is stored, where there is something", () => {
    const check = preconditionCheck(asked({ "if-match": '"v0"' }));
    expect(() => check(file)).toThrow(expect.objectContaining({ headers: { etag: '"v1"' } }));
    expect(() => check(undefined)).toThrow(expect.objectContaining({ headers: {} }));
  });
});
