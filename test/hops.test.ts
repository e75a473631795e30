import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runNodeToEnd } from "./helpers/run-node.ts";
import { projectRoot } from "./helpers/source-files.ts";

/** The most files that a warm request may enter; each one more is one more to open for those who follow it. */
const mostFiles: Readonly<Record<string, number>> = {
  GET: 18,
  "GET 304": 18,
  PUT: 34,
  "GET by selector": 25,
  "PUT by selector": 70,
};

describe("npm run hops", () => {
  it("counts what a request passes through, which stays within its bounds", async () => {
    const { code, stdout, stderr } = await runNodeToEnd([join(projectRoot, "test/bench/hops.mjs")]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const rows = [...stdout.matchAll(/^\| ([\w ]+?) *\| +(\d+) \| +(\d+) \| +(\d+) \|$/gm)];
    expect(rows.map(([, name]) => name)).toEqual(["GET", "GET 304", "PUT", "GET by selector", "PUT by selector"]);
    const over = rows.filter(([, name = "", files]) => Number(files) > (mostFiles[name] ?? Number.POSITIVE_INFINITY));
    expect(over.map(([row]) => row)).toEqual([]);
  });
});
