import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { adversarial } from "./adversarial.mjs";
import { editSizes } from "./edit-sizes.mjs";
import { elementLibraries } from "./element-libraries.mjs";
import { requestBytes } from "./load.mjs";
import { measure } from "./rounds.mjs";
import { withServers } from "./server-process.mjs";
import { printLoads } from "./table.mjs";

/**
 * Elements of a page of the web of about 90 KB, read beside the whole page. Then those of many pages,
 * beside other libraries; and requests that are built to be slow.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function elements(directory, effort) {
  const root = join(directory, "pages");
  await mkdir(root);
  await writeFile(join(root, "page.html"), await typicalPage());
  await withServers([["filement", "filement", [root]]], async (servers) => {
    const task = (/** @type {number} */ status, fields = {}) => ({
      requests: [requestBytes("GET", "/page.html", fields)],
      status,
      connections: 32,
    });
    const [selected] = await measure(servers, task(206, { range: "selector=title" }), effort);
    const [page] = await measure(servers, task(200), effort);
    if (!selected || !page) throw new Error("a result is missing");
    printLoads("GET of a page of 90 KB", [
      { ...selected, name: "selector=title" },
      { ...page, name: "the whole page" },
    ]);
  });
  await editSizes(effort);
  await elementLibraries(directory, effort);
  await adversarial(directory, effort);
}

/** A page of 90 KB of `htmlparser-benchmark`. */
export function typicalPage() {
  const name = "a75ad1c11e404b0d8e803333a387cfc1772acfebef73e600aa6e2b31cf80fce7.html";
  return readFile(fileURLToPath(import.meta.resolve(`htmlparser-benchmark/files/${name}`)));
}
