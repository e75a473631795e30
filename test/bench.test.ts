import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runNodeToEnd } from "./helpers/run-node.ts";
import { projectRoot } from "./helpers/source-files.ts";

const run = join(projectRoot, "test/bench/run.mjs");

describe("npm run bench", () => {
  it("prints a row for each server in each table, and ends by itself", { tags: ["campaign"] }, async () => {
    const { code, stdout, stderr } = await runNodeToEnd([run, "--quick"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const tables = stdout
      .split(/^\*\*/m)
      .slice(1)
      .map((table) => ({
        title: table.slice(0, table.indexOf("**")),
        rows: [...table.matchAll(/^\| ([^|]*?) *\| +\d/gm)].map(([, name]) => name),
      }));
    const libraries = [
      "filement, page not parsed before",
      "filement, page in the cache",
      "parse5, select, print",
      "cheerio",
      "node-html-parser",
      "lol-html (html-rewriter-wasm)",
    ];
    const durabilities = ["filement", "filement, durability: rename"];
    const limiters = ["filement", "express-rate-limit, MemoryStore", "rate-limiter-flexible, RateLimiterMemory"];
    const validating = ["filement", "filement, log, metrics, limit", "express.static", "sirv", "@fastify/static"];
    const readers = expect.arrayContaining([...validating, "bare node:http"]); // and programs that are installed
    const processes = ["rename", "fsync"].flatMap((durability) =>
      ["1, no lock between processes", "1", "2", "4"].map((name) => `${name}, ${durability}`),
    );
    expect(tables).toEqual([
      { title: "GET 1 KB", rows: readers },
      { title: "GET 100 KB", rows: readers },
      { title: "GET 10 MB", rows: readers },
      { title: "GET 4 KB, 1,000 files at random", rows: readers },
      { title: "304", rows: expect.arrayContaining(validating) },
      {
        title: "PUT 1 KB over an existing file",
        rows: [...durabilities, "bare node:http, writeFile"],
      },
      {
        title: "The lock, in microseconds of the processor",
        rows: [
          "a lock between processes, taken and released",
          "a write of 1 KB to the disk, without fsync, with its lock",
        ],
      },
      { title: "PUT 1 KB, a file for each client", rows: processes },
      { title: "PUT 1 KB, one file for all", rows: processes },
      { title: "PUT of an element, a page for each client", rows: processes },
      { title: "PUT of an element, one page for all", rows: processes },
      {
        title: "Listings of 2,000 entries",
        rows: ["JSON, everything", "JSON, by size", "JSON, ?limit=1000", "HTML"],
      },
      { title: "GET of a page of 90 KB", rows: ["selector=title", "the whole page"] },
      { title: "PUT selector=title in a page of 90 KB, connections: 1", rows: durabilities },
      { title: "PUT selector=title in a page of 90 KB, connections: 4", rows: durabilities },
      { title: "Reading p a[href]", rows: libraries },
      { title: "Replacing title", rows: libraries },
      { title: "Documents built to be slow", rows: expect.arrayContaining(["200,000 nested elements"]) },
      { title: "Selectors built to be slow", rows: expect.arrayContaining(["p:nth-child(2n+1)"]) },
      { title: "Edits built to be slow", rows: ["POST to *"] },
      { title: "Decisions of a rate limit per second", rows: limiters },
      { title: "Memory of a rate limit with 50,000 clients", rows: limiters },
      {
        title: "Longest hold of the event loop with 50,000 clients",
        rows: [...limiters.map((name) => `${name}, a new client`), "filement, in a cleanup of all"],
      },
      {
        title: "GET 1 KB with plugins",
        rows: ["rateLimit", "accessLog", "metrics", "basicAuth", "log, metrics, limit", "all four", "none"],
      },
      { title: "One change to 100 clients", rows: ["filement", "bare ws"] },
      { title: "Changes of 10 KB, 100 per second", rows: ["all read", "100 more do not"] },
      { title: "Trees", rows: expect.any(Array) },
      { title: "Cost of a tree", rows: ["filement", "parse5 with positions", "parse5", "htmlparser2 with positions"] },
      { title: "Memory with a file of 32 MiB", rows: ["PUT", "GET"] },
    ]);
  });

  it("measures what it is told", async () => {
    const { code, stdout } = await runNodeToEnd([run, "memory", "--quick"]);
    expect(code).toBe(0);
    expect(stdout.match(/^\*\*.*/gm)).toEqual(["**Memory with a file of 32 MiB**"]);
  });

  it("compares with an earlier version that lies in another folder", { tags: ["campaign"] }, async () => {
    const { code, stdout } = await runNodeToEnd([run, "files", "--quick", "--before", projectRoot]);
    expect(code).toBe(0);
    expect(stdout.match(/^\| filement before /gm)).toHaveLength(6);
    expect(stdout).toMatch(/\| +of filement before \|/);
  });

  it("says what drives the servers, and how busy the machine is", async () => {
    const { stdout } = await runNodeToEnd([run, "memory", "--quick"]);
    expect(stdout).toMatch(/wrk/);
    expect(stdout).toMatch(/^Load of the machine before memory: \d+\.\d, \d+\.\d, \d+\.\d$/m);
  });

  it("says what there is to measure", async () => {
    expect(await runNodeToEnd([run, "speed"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "no measurement speed; there are: files, processes, listings, elements, plugins, live, trees, memory\n",
    });
  });
});
