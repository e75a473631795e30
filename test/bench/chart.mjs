import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installed } from "./files.mjs";
import { requestBytes } from "./load.mjs";
import { measure } from "./rounds.mjs";
import { withServers } from "./server-process.mjs";
import { printLoads } from "./table.mjs";
import { isDufs } from "./writes.mjs";

/** @typedef {Awaited<ReturnType<typeof measure>>} Results */

const picture = fileURLToPath(new URL("../../docs/pictures/speed.svg", import.meta.url));
const content = Buffer.alloc(1000, "0123456789abcdef\n");

/**
 * Reading and writing 1 KB beside other servers, as the picture of the README. A trial of one round keeps it as it is.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function chart(directory, effort) {
  const root = join(directory, "chart");
  await mkdir(root);
  const paths = Array.from({ length: 16 }, (_, i) => `/${i}.txt`);
  for (const path of paths) await writeFile(root + path, content);
  const reads = await withServers(
    [
      ["filement", "filement", [root]],
      ["sirv", "sirv", [root]],
      ["express.static", "express-static", [root]],
      ...installed("dufs", root),
      ...installed("nginx", root),
      ["bare node:http, from memory", "bare-memory", [root]],
    ],
    (servers) => measure(servers, { requests: [requestBytes("GET", "/1.txt")], status: 200, connections: 32 }, effort),
  );
  printLoads("GET 1 KB", reads);
  const writes = await withServers(
    [
      ["filement", "filement", [root, "rename"]],
      ...installed("dufs", root),
      ["bare node:http, same rename", "bare-rename", [root]],
    ],
    (servers) => {
      const requests = paths.map((path) => requestBytes("PUT", path, {}, content));
      const task = async (/** @type {number} */ port) => {
        return { requests, status: isDufs(servers, port) ? 201 : 200, connections: paths.length };
      };
      return measure(servers, task, effort);
    },
  );
  printLoads("PUT 1 KB, 16 files, rename", writes);
  if (effort.rounds > 1) await writeFile(picture, drawing(reads, writes));
}

/**
 * Two groups of bars, in colours that fit a light and a dark page.
 *
 * @param {Results} reads
 * @param {Results} writes
 */
function drawing(reads, writes) {
  const groups = [bars("GET of 1 KB, requests a second", reads, 30)];
  groups.push(bars("PUT of 1 KB over a file, requests a second", writes, 66 + reads.length * 26));
  const height = 90 + (reads.length + writes.length) * 26;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 ${height}" font-family="system-ui, sans-serif" font-size="14" role="img">
<title>Requests a second beside other servers</title>
<style>
  text { fill: #1f2328 } .bar { fill: #8c959f } .own { fill: #0969da }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .bar { fill: #6e7681 } .own { fill: #4493f8 } }
</style>
${groups.join("\n")}
</svg>
`;
}

/**
 * @param {string} title
 * @param {Results} results
 * @param {number} top
 */
function bars(title, results, top) {
  const most = Math.max(...results.map(({ load }) => load.requestsPerSecond));
  const rows = results.map(({ name, load: { requestsPerSecond } }, i) => {
    const y = top + 10 + i * 26;
    const width = Math.max(1, Math.round((400 * requestsPerSecond) / most));
    const figure = Math.round(requestsPerSecond).toLocaleString("en");
    const colour = name === "filement" ? "own" : "bar";
    return `<text x="205" y="${y + 15}" text-anchor="end">${name}</text><rect class="${colour}" x="215" y="${y}" width="${width}" height="20" rx="3"/><text x="${225 + width}" y="${y + 15}">${figure}</text>`;
  });
  return [`<text x="10" y="${top}" font-weight="600">${title}</text>`, ...rows].join("\n");
}
