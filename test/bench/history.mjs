import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFileServer, history as historyPlugin, memoryStorage } from "../../dist/index.js";
import { typicalPage } from "./elements.mjs";
import { requestBytes } from "./load.mjs";
import { measure, median } from "./rounds.mjs";
import { withServers } from "./server-process.mjs";
import { printLoads, printTable } from "./table.mjs";

/**
 * Changes with and without a history, and reading one of 100,000 commits.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function history(directory, effort) {
  await changes(directory, effort);
  await longHistory(directory, effort);
}

/** @type {import("./rounds.mjs").Measurement} */
async function changes(directory, { ms, rounds, ...others }) {
  const effort = { ...others, rounds, ms: 5 * ms }; // so that each server makes its commits in its own turn
  const more = { ...effort, rounds: rounds === 1 ? 1 : 4 * rounds }; // for a small difference
  const roots = ["without", "with"].map((name) => join(directory, name));
  const [without = "", recorded = ""] = roots;
  const paths = Array.from({ length: 16 }, (_, i) => `/${i}.txt`);
  await mkdir(without);
  for (const path of paths) await writeFile(without + path, "x".repeat(1000));
  await writeFile(join(without, "page.html"), await typicalPage());
  await cp(without, recorded, { recursive: true });
  const puts = Array.from({ length: 256 }, (_, i) => {
    const path = paths[i % paths.length] ?? "";
    return requestBytes("PUT", path, {}, Buffer.alloc(1000, `another line of text, number ${i}\n`));
  });
  const edits = paths.map((path) =>
    requestBytes("PUT", "/page.html", { range: "selector=title" }, `<title>${path}</title>`),
  );
  for (const durability of ["rename", "fsync"]) {
    const repository = join(directory, `${durability}.git`);
    /** @type {readonly Parameters<typeof import("./server-process.mjs").startServer>[]} */
    const wanted = [
      ["without", "filement", [without, durability]],
      ["with history", "filement-history", [recorded, repository, durability]],
    ];
    await withServers(wanted, async (servers) => {
      for (const connections of [1, 16]) {
        const told = `${durability}, connections: ${connections}`;
        const put = { requests: puts, status: 200, connections };
        printLoads(`PUT 1 KB, 16 files, ${told}`, await measure(servers, put, more), ["without"]);
        const edit = { requests: edits, status: 206, connections };
        printLoads(`PUT selector=title, one page, ${told}`, await measure(servers, edit, effort), ["without"]);
      }
    });
  }
}

/** @type {import("./rounds.mjs").Measurement} */
async function longHistory(directory, { rounds }) {
  const commits = rounds === 1 ? 1000 : 100_000;
  const repository = join(directory, "long.git");
  await fill(repository, commits, commits / 100);
  const files = createFileServer({ storage: memoryStorage(), plugins: [historyPlugin({ repository })] });
  await files.ready();
  const [beginning, memory] = [performance.now(), process.memoryUsage().rss];
  await files.history("/0.txt");
  const first = performance.now() - beginning;
  const times = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const before = process.cpuUsage();
    await files.history(`/${turn}.txt`);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  const held = (process.memoryUsage().rss - memory) / 1024 ** 2;
  await files.close();
  printTable(
    `${commits} commits of ${commits / 100} files`,
    ["asked for", "the first time, ms", "again, ms of the processor", "memory, MiB"],
    [["versions of one file", first.toFixed(0), median(times).toFixed(2), held.toFixed(0)]],
  );
}

/**
 * A repository with many commits of some files, each of a few words.
 *
 * @param {string} repository
 * @param {number} commits
 * @param {number} count
 */
async function fill(repository, commits, count) {
  await once(spawn("git", ["init", "--quiet", "--bare", "--initial-branch=main", repository]), "close");
  const git = spawn("git", ["--git-dir", repository, "fast-import", "--quiet"], {
    stdio: ["pipe", "inherit", "inherit"],
  });
  const ended = once(git, "close");
  for (let n = 0; n < commits; n += 1) {
    const text = `content ${n}\n`;
    const person = `ada <ada@localhost> ${1_700_000_000 + n} +0000`;
    const lines = [
      "commit refs/heads/main",
      `author ${person}`,
      `committer ${person}`,
      "data 3",
      "PUT",
      `M 100644 inline ${n % count}.txt`,
      `data ${text.length}`,
      text,
    ];
    if (!git.stdin.write(`${lines.join("\n")}\n`)) await once(git.stdin, "drain");
  }
  git.stdin.end();
  await ended;
}
