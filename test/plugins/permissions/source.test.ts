import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { PermissionRule } from "../../../src/plugins/permissions/rules.ts";
import { fileSource } from "../../../src/plugins/permissions/source.ts";
import type { Site } from "../../../src/server/site.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

describe("a file of rules that changes", () => {
  it("is compared with what it was in a time that grows with it, however many rules it has", async () => {
    const location = join(await temporaryDirectory({ "rules.html": "first" }), "rules.html");
    let loads = 0;
    const load = async () => {
      const rules = Array.from({ length: 100_000 - loads }, (_, index): PermissionRule => {
        return { username: "*", path: `/${index}/*`, permission: index === 0 ? "allow" : "deny" };
      });
      loads += 1;
      return { content: loads, rules, warnings: [] };
    };
    const warned: string[] = [];
    const source = fileSource({ plugin: "rules", location, failure: "", load });
    onTestFinished(() => source.close());
    const logger = { warn: (_fields: object, message: string) => void warned.push(message) };
    await source.start({ logger, protect: async () => {} } as unknown as Site);
    expect([await source.current(), warned]).toEqual([1, []]);
    await writeFile(location, "second");
    await expect.poll(() => source.current()).toBe(2);
    expect(warned).toEqual([`rules: ${location} now lets anonymous clients do more`]);
  });
});
