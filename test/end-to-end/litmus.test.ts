import { execFile } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { Plugin } from "../../src/server/plugin.ts";
import { programPath } from "../helpers/needs.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

/** Litmus asks of a server that it claims WebDAV, which Filement does not: it has no properties and no locks. */
const claiming: Plugin = {
  name: "claiming",
  async handle(exchange, next) {
    const reply = await next();
    return exchange.method === "OPTIONS" ? { ...reply, headers: { ...reply.headers, dav: "1, 2" } } : reply;
  },
};

/** What litmus says of each test of a group. */
async function results(group: string): Promise<Readonly<Record<string, string>>> {
  const { url } = await serve({ root: await temporaryDirectory(), plugins: [claiming] });
  const cwd = await temporaryDirectory(); // litmus writes logs
  const output = await new Promise<string>((resolve) => {
    const env = { ...process.env, TESTS: group };
    execFile(programPath("litmus") ?? "", ["-k", `${url}/`], { cwd, env }, (_error, out) => resolve(out));
  });
  const said = output.matchAll(/^ ?\d+\. (\w+)\.+ (pass|FAIL)/gm);
  return Object.fromEntries([...said].map(([, name, result]) => [name, result]));
}

describe("litmus, which tests WebDAV servers,", { tags: ["litmus"] }, () => {
  it("passes with all of its basic operations", async () => {
    const said = Object.values(await results("basic"));
    expect([said.length, ...new Set(said)]).toEqual([16, "pass"]);
  });

  it("passes with all copies and moves that take no directory's place", async () => {
    const said = Object.entries(await results("copymove"));
    const failed = said.flatMap(([name, result]) => (result === "pass" ? [] : [name]));
    // Four replace a directory; the fifth goes on from what they would have left.
    expect([said.length, failed]).toEqual([13, ["copy_overwrite", "copy_coll", "copy_shallow", "move", "move_coll"]]);
  });
});
