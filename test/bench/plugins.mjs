import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { requestBytes } from "./load.mjs";
import { rateLimit } from "./rate-limit.mjs";
import { measure } from "./rounds.mjs";
import { withServers } from "./server-process.mjs";
import { printLoads } from "./table.mjs";

/**
 * The bucket table of the rate limit beside other limiters, and what each plugin costs a small GET.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function plugins(directory, effort) {
  await rateLimit(directory, effort);
  await requests(join(directory, "plugins"), effort);
}

/** @type {import("./rounds.mjs").Measurement} */
async function requests(directory, effort) {
  const root = join(directory, "site");
  await mkdir(root, { recursive: true });
  await writeFile(join(root, "1kb.txt"), Buffer.alloc(1000, "0123456789abcdef\n"));
  const authorization = `Basic ${Buffer.from("ada:secret").toString("base64")}`;
  const request = requestBytes("GET", "/1kb.txt", { authorization });
  const all = ["rateLimit", "accessLog", "metrics", "basicAuth"];
  const sets = [
    ...all.map((name) => ({ name, used: [name] })),
    { name: "log, metrics, limit", used: ["accessLog", "metrics", "rateLimit"] },
    { name: "all four", used: all },
    { name: "none", used: [] },
  ];
  await withServers(
    sets.map(({ name, used }) => [name, "filement-plugins", [root, join(directory, `${name}.log`), ...used]]),
    async (servers) => {
      const task = { requests: [request], status: 200, connections: 32 };
      printLoads("GET 1 KB with plugins", await measure(servers, task, effort));
    },
  );
}
