import { parseDocument } from "htmlparser2";
import { createFileServer, memoryStorage } from "../../dist/index.js";
import { median } from "./rounds.mjs";
import { printTable } from "./table.mjs";

const pageSizes = { "10 KB": 10_000, "100 KB": 100_000, "1 MB": 1_000_000, "10 MB": 10_000_000 };

/**
 * A PUT of one small element in pages of 10 kB to 10 MB, in processor time, beside parsing the page.
 *
 * @param {import("./rounds.mjs").Effort} effort
 */
export async function editSizes(effort) {
  const rows = [];
  for (const [name, size] of Object.entries(pageSizes)) {
    const page = pageOf(size);
    // The tree of the largest page is larger than the cache is by default: each edit would parse the page anew.
    const sizes = { maxDocumentSize: 64 * 1024 ** 2, documentCacheSize: 1024 ** 3 };
    const files = createFileServer({ storage: memoryStorage({ "/page.html": page }), ...sizes });
    const headers = { range: "selector=#one" };
    let count = 0;
    const put = async () => {
      count += 1;
      const body = `<p id=one>${count}</p>`;
      const reply = await files.fetch(new Request("http://localhost/page.html", { method: "PUT", headers, body }));
      if (reply.status !== 206) throw new Error(`PUT was answered ${reply.status}`);
      await reply.arrayBuffer();
    };
    const rounds = effort.rounds === 1 ? 2 : Math.min(100, Math.max(5, 2_000_000 / size));
    for (let each = 0; each < rounds; each += 1) await put();
    const puts = [];
    const parses = [];
    for (let each = 0; each < rounds; each += 1) {
      puts.push(await processorMs(put));
      if (each < 3) parses.push(await processorMs(() => parseDocument(page)));
    }
    await files.close();
    const [edit, parse] = [median(puts), median(parses)];
    rows.push([name, edit.toFixed(2), parse.toFixed(2), (edit / parse).toFixed(2)]);
  }
  const columns = ["page", "PUT, processor ms", "htmlparser2.parseDocument, ms", "PUT of that"];
  printTable("PUT of one small element, by the size of the page", columns, rows);
}

/** @param {number} size */
function pageOf(size) {
  const item = '<p class=item>Some <b>words</b>, and <a href="/more">more of them</a> in a row.</p>\n';
  const half = item.repeat(Math.round(size / item.length / 2));
  return `<!doctype html>\n<title>t</title>\n${half}<p id=one>0</p>\n${half}`;
}

/** @param {() => unknown} work */
async function processorMs(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
