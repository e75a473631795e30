import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { s3Storage } from "../../../src/storage/s3/s3-storage.ts";
import { connectAgent } from "../../helpers/agent.ts";
import { timesOf } from "../../helpers/effort.ts";
import { startFilement } from "../../helpers/filement-command.ts";
import { runNode } from "../../helpers/run-node.ts";
import { projectRoot } from "../../helpers/source-files.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { redisServer } from "../../redis/redis-server.ts";
import { textAt } from "../../storage/content.ts";

const items = Array.from({ length: 40 }, (_, index) => index);
const list = items.map((index) => `<li id="item${index}">Item ${index}</li>`).join("\n");
const page = `<!DOCTYPE html>\n<ul>\n${list}\n</ul>\n`;
const four = [1, 2, 3, 4];

/** Edits all items at once by two agents of each server, in rounds; returns how many edits were kept. */
async function keptOf(urls: readonly string[], rounds: number, read: () => Promise<string | undefined>) {
  const agents = await Promise.all([...urls, ...urls].map((url) => connectAgent(url)));
  let kept = 0;
  for (let round = 0; round < rounds; round += 1) {
    const answers = await Promise.all(
      items.map((index) =>
        agents[index % agents.length]?.call("edit", {
          path: "/to-do.html",
          edits: [{ op: "setText", selector: `#item${index}`, text: `Round ${round} of ${index}`, matches: 1 }],
        }),
      ),
    );
    expect(answers.filter((answer) => answer?.isError)).toEqual([]);
    const now = await read();
    kept += items.filter((index) => now?.includes(`<li id="item${index}">Round ${round} of ${index}</li>`)).length;
  }
  return kept;
}

describe("edits of eight agents at once, by four processes", () => {
  it("are all kept over one root", async () => {
    const root = await temporaryDirectory({ "to-do.html": page });
    const file = join(root, "to-do.html");
    const servers = await Promise.all(four.map(() => startFilement([root, "--mcp"])));
    const rounds = timesOf(1, 10);
    const urls = servers.map(({ url }) => url);
    expect(await keptOf(urls, rounds, () => readFile(file, "utf8"))).toBe(items.length * rounds);
  });

  it("are all kept over one bucket, with one Redis", { tags: ["versitygw", "redis-server"] }, async () => {
    const { testBucket } = await import("../../helpers/test-bucket.ts");
    const { options } = await testBucket({ "/to-do.html": page });
    const { bucket, prefix, endpoint } = options;
    const location = `s3://${bucket}/${prefix}?endpoint=${endpoint}`;
    const redis = await redisServer();
    const script = join(projectRoot, "test/redis/serve-shared-feed.mjs");
    const urls = await Promise.all(
      four.map(async () => {
        const server = runNode([script, location, redis.url, "127.0.0.1", "mcp"]);
        const [, url = ""] = await server.waitFor(/^listening on (\S+)\n/m);
        return url;
      }),
    );
    const storage = s3Storage(options);
    const rounds = timesOf(1, 10);
    expect(await keptOf(urls, rounds, () => textAt(storage, "/to-do.html"))).toBe(items.length * rounds);
  });
});
