import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isMet } from "./helpers/needs.ts";
import { runNodeToEnd } from "./helpers/run-node.ts";
import { projectRoot } from "./helpers/source-files.ts";

const run = join(projectRoot, "test/bench/run.mjs");

/** Each measurement, how many tables it prints, and rows that are among those of them. */
const measurements: readonly (readonly [name: string, tables: number, rows: readonly string[]])[] = [
  ["start", 2, ['import "filement"', 'import "express"', "createFileServer({ root })"]],
  ["chart", 2, ["filement", "sirv", "express.static", "bare node:http, from memory", "bare node:http, same rename"]],
  ["files", 5, ["filement", "filement, log, metrics, limit", "express.static", "sirv", "@fastify/static"]],
  ["writes", 13, ["a lock between processes, taken and released", "filement", "bare node:http"]],
  ["listings", 1, ["JSON, everything", "JSON, by size", "JSON, ?limit=1000", "HTML"]],
  ["elements", 7, ["selector=title", "10 KB", "filement/html", "parse5, select, print", "POST to *"]],
  ["edits", 1, ["setText, in a list", "insert, last, all over"]],
  ["plugins", 2, ["express-rate-limit, MemoryStore", "rateLimit", "basicAuth", "all four", "none"]],
  ["history", 9, ["without", "with history", "versions of one file"]],
  ["live", 1, ["filement", "bare ws"]],
  ["turns", 1, ["GET of an element, 1 MB"]],
  ["memory", 1, ["PUT", "GET"]],
  ["scale", 5, ["filement", "the SDK behind node:http"]],
];

describe("npm run bench", () => {
  const possible = measurements.filter(([name]) => name !== "scale" || isMet("versitygw"));

  it.each(possible)("prints its tables, and ends by itself: %s", { tags: ["minutes"] }, async (name, tables, rows) => {
    const { code, stdout, stderr } = await runNodeToEnd([run, name, "--quick"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const printed = stdout.split(/^\*\*/m).slice(1);
    expect(printed).toHaveLength(tables);
    for (const table of printed) expect(table).toMatch(/^\| [^|]+ \| +\d/m);
    expect([...stdout.matchAll(/^\| ([^|]*?) *\| +\d/gm)].map(([, row]) => row)).toEqual(
      expect.arrayContaining([...rows]),
    );
  });

  it("measures what it is told, and says what drives the servers and how busy the machine is", async () => {
    const { code, stdout } = await runNodeToEnd([run, "memory", "--quick"]);
    expect(code).toBe(0);
    expect(stdout.match(/^\*\*.*/gm)).toEqual(["**Memory with a file of 32 MiB**"]);
    expect(stdout).toMatch(/wrk/);
    expect(stdout).toMatch(/^Load of the machine before memory: \d+\.\d, \d+\.\d, \d+\.\d$/m);
  });

  it("compares with an earlier version that lies in another folder", { tags: ["campaign"] }, async () => {
    const { code, stdout } = await runNodeToEnd([run, "files", "--quick", "--before", projectRoot]);
    expect(code).toBe(0);
    expect(stdout.match(/^\| filement before /gm)).toHaveLength(5);
    expect(stdout).toMatch(/\| +of filement before \|/);
  });

  it("says what there is to measure", async () => {
    expect(await runNodeToEnd([run, "speed"])).toEqual({
      code: 2,
      stdout: "",
      stderr: `no measurement speed; there are: ${measurements.map(([name]) => name).join(", ")}\n`,
    });
  });
});
