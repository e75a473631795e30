import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Need } from "./helpers/needs.ts";
import { runNodeToEnd } from "./helpers/run-node.ts";
import { projectRoot } from "./helpers/source-files.ts";

const run = join(projectRoot, "test/bench/run.mjs");

const libraries = [
  "filement, page not parsed before",
  "filement, page in the cache",
  "filement/html",
  "parse5, select, print",
  "cheerio",
  "linkedom",
  "node-html-parser",
  "lol-html (html-rewriter-wasm)",
];
const limiters = ["filement", "express-rate-limit, MemoryStore", "rate-limiter-flexible, RateLimiterMemory"];
const validating = ["filement", "filement, log, metrics, limit", "express.static", "sirv", "@fastify/static"];
const readers = expect.arrayContaining([...validating, "bare node:http"]); // and programs that are installed
const overBucket = ["filement", "the SDK behind node:http"];

/** Of each measurement: its tables, each with its rows. */
const measurements: Readonly<Record<string, readonly (readonly [string, unknown])[]>> = {
  start: [["Processor time of an import", ['import "filement"', 'import "express"']]],
  chart: [
    ["GET 1 KB", expect.arrayContaining(["filement", "sirv", "express.static", "bare node:http, from memory"])],
    ["PUT 1 KB, 16 files, rename", expect.arrayContaining(["filement", "bare node:http, same rename"])],
  ],
  files: [
    ["GET 1 KB", readers],
    ["GET 100 KB", readers],
    ["GET 10 MB", readers],
    ["GET 4 KB, 1,000 files at random", readers],
    ["304", expect.arrayContaining(validating)],
  ],
  writes: [
    [
      "The lock, in microseconds of the processor",
      ["a lock between processes, taken and released", "a write of 1 KB to the disk, without fsync, with its lock"],
    ],
    ...["rename, connections: 1", "rename, connections: 16", "fsync, connections: 1", "fsync, connections: 16"].flatMap(
      (told) =>
        [
          [`PUT 1 KB, 16 files, ${told}`, expect.arrayContaining(["filement", "bare node:http"])],
          [`PUT selector=title, one page of 90 KB, ${told}`, expect.arrayContaining(["filement"])],
          [`POST 100 bytes to one file, ${told}`, expect.arrayContaining(["filement"])],
        ] as const,
    ),
  ],
  listings: [["Listings of 2,000 entries", ["JSON, everything", "JSON, by size", "JSON, ?limit=1000", "HTML"]]],
  elements: [
    ["GET of a page of 90 KB", ["selector=title", "the whole page"]],
    ["PUT of one small element, by the size of the page", expect.arrayContaining(["10 KB"])],
    ["Reading p a[href]", libraries],
    ["Replacing title", libraries],
    ["Documents built to be slow", expect.arrayContaining(["200,000 nested elements"])],
    ["Selectors built to be slow", expect.arrayContaining(["p:nth-child(2n+1)"])],
    ["Edits built to be slow", ["POST to *"]],
  ],
  edits: [
    [
      "PATCH of a page of 90 KB",
      ["in a list", "all over"].flatMap((place) =>
        ["setText", "setAttribute", "addClass", "insert, last"].map((name) => `${name}, ${place}`),
      ),
    ],
  ],
  plugins: [
    ["A rate limit with 50,000 clients", limiters],
    [
      "GET 1 KB with plugins",
      ["rateLimit", "accessLog", "metrics", "basicAuth", "log, metrics, limit", "all four", "none"],
    ],
  ],
  history: [
    ...["rename", "fsync"].flatMap((durability) =>
      [1, 16].flatMap((connections) => [
        [`PUT 1 KB, 16 files, ${durability}, connections: ${connections}`, ["without", "with history"]] as const,
        [
          `PUT selector=title, one page, ${durability}, connections: ${connections}`,
          ["without", "with history"],
        ] as const,
      ]),
    ),
    ["1000 commits of 10 files", ["versions of one file"]],
  ],
  live: [["One change to 100 clients", ["filement", "bare ws"]]],
  turns: [["Longest turn of the event loop, in processor time", expect.arrayContaining(["GET of an element, 1 MB"])]],
  memory: [["Memory with a file of 32 MiB", ["PUT", "GET"]]],
  scale: [
    ["GET 1 KB from a bucket", overBucket],
    ["GET 100 KB from a bucket, 400 files in turn", overBucket],
    ["GET of an element from a bucket", overBucket],
    ["PUT 1 KB to a bucket", overBucket],
    ["PUT of an element in a bucket", overBucket],
  ],
};
const ofBuckets = new Set(["scale"]);

describe("npm run bench", () => {
  describe.each(Object.entries(measurements))("%s", (name, tables) => {
    const tags: Need[] = ofBuckets.has(name) ? ["minutes", "versitygw"] : ["minutes"];
    it("prints a row for each server in each table, and ends by itself", { tags }, async () => {
      const { code, stdout, stderr } = await runNodeToEnd([run, name, "--quick"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const printed = stdout
        .split(/^\*\*/m)
        .slice(1)
        .map((table) => [
          table.slice(0, table.indexOf("**")),
          [...table.matchAll(/^\| ([^|]*?) *\| +\d/gm)].map(([, row]) => row),
        ]);
      expect(printed).toEqual(tables);
    });
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
      stderr: `no measurement speed; there are: ${Object.keys(measurements).join(", ")}\n`,
    });
  });
});
