import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isCampaign, suiteSeed, timesOf } from "./helpers/effort.ts";
import { runNodeToEnd } from "./helpers/run-node.ts";
import { projectRoot } from "./helpers/source-files.ts";

const run = join(projectRoot, "test/soak/run.mjs");

describe("npm run soak", () => {
  it("gets right answers only, and the descriptors back, from a server with everything on", async () => {
    const requests = String(timesOf(100, 8_000));
    // The minute ends it on a machine that is too busy for all of them.
    const load = ["--requests", requests, "--minutes", "1", "--seed", String(5 + suiteSeed)];
    if (!isCampaign) load.push("--steps", "4"); // a few rounds to compare
    if (isCampaign) load.push("--busy", "1");
    const { code, stdout, stderr } = await runNodeToEnd([run, ...load]);
    expect(stdout).toMatch(/^[1-9]\d* requests, 0 wrong$/m);
    expect(stdout).toMatch(/^Heap, medians: /m);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("refuses what is no number", { tags: ["campaign"] }, async () => {
    const { code, stderr } = await runNodeToEnd([run, "--minutes", "ten"]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "--minutes, --requests, --busy, --seed and --steps are numbers\n",
    });
  });
});
