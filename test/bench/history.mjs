import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { typicalPage } from "./elements.mjs";
import { requestBytes } from "./load.mjs";
import { measure } from "./rounds.mjs";
import { withServers } from "./server-process.mjs";
import { printLoads } from "./table.mjs";

/**
 * Changes with and without a history.
 *
 * @param {string} directory
 * @param {import("./rounds.mjs").Effort} effort
 */
export async function history(directory, effort) {
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
        printLoads(`PUT 1 KB, 16 files, ${told}`, await measure(servers, put, effort), ["without"]);
        const edit = { requests: edits, status: 206, connections };
        printLoads(`PUT selector=title, one page, ${told}`, await measure(servers, edit, effort), ["without"]);
      }
    });
  }
}
