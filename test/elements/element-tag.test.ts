import { describe, expect, it } from "vitest";
import { elementTag } from "../../src/elements/element-tag.ts";
import { entityTag } from "../../src/http/entity-tag.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";

describe("elementTag", () => {
  it("is strong, and the same for the same bytes only", () => {
    expect(elementTag(Buffer.from("<p>a"))).toBe(elementTag(new Uint8Array([60, 112, 62, 97])));
    expect(elementTag(Buffer.from("<p>a"))).not.toBe(elementTag(Buffer.from("<p>b")));
    expect(elementTag(Buffer.from(""))).toMatch(/^"elements:[\w-]{22}"$/);
  });

  it("has a character in it that no version of a file has", async () => {
    const stat = await memoryStorage({ "/a": "" }).stat("/a");
    expect(entityTag(stat?.version ?? ":")).not.toContain(":");
  });
});
