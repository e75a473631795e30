import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFileServer, diskStorage } from "../../dist/index.js";
import { typicalPage } from "./elements.mjs";
import { median } from "./rounds.mjs";
import { printTable } from "./table.mjs";

/** Start tags of elements that hold text and have no id. */
const leaf = /<(?:a|b|span|p|h\d)\b(?![^>]* id=)(?=[^>]*>[^<]+<\/)/g;

/** @type {Readonly<Record<string, (selector: string, count: number) => object>>} */
const operations = {
  setText: (selector, count) => ({ op: "setText", selector, text: `n ${count}` }),
  setAttribute: (selector, count) => ({ op: "setAttribute", selector, name: "title", value: `n ${count}` }),
  addClass: (selector, count) => ({ op: "addClass", selector, class: `n${count}` }),
  "insert, last": (selector, count) => ({ op: "insert", selector, position: "beforeend", html: `<b>${count}</b>` }),
};

/** Takes out again what would let the page grow: the 100th PATCH must find a page like the first. */
const undoing = [
  { op: "remove", selector: "[id^=bench-] > b" },
  { op: "removeAttribute", selector: "[id^=bench-]", name: "class" },
];

/**
 * PATCH of one edit and of 100 edits of a page of 90 KB, in turns: of 100 items of a list that is added to the page for it, and of
 * 100 elements from its beginning to its end. What an edit adds is taken out again after each, which is not timed.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function edits(directory, { rounds }) {
  const original = String(await typicalPage());
  const items = Array.from({ length: 100 }, (_, index) => `<li id=bench-${index}>item</li>`).join("\n");
  const distance = Math.floor((original.match(leaf)?.length ?? 0) / 100);
  let found = -1;
  const spread = original.replace(leaf, (tag) => {
    found += 1;
    return found % distance === 0 && found < 100 * distance ? `${tag} id=bench-${found / distance}` : tag;
  });
  const places = { "in a list": original.replace("</body>", `<ul>${items}</ul></body>`), "all over": spread };
  const rows = [];
  for (const [place, content] of Object.entries(places)) {
    for (const [name, edit] of Object.entries(operations)) {
      await writeFile(join(directory, "page.html"), content);
      const files = createFileServer({ storage: diskStorage(directory, { durability: "rename" }) });
      let count = 0;
      /** @param {readonly object[]} list */
      const patch = async (list) => {
        const init = { method: "PATCH", headers: { "content-type": "application/json" }, body: JSON.stringify(list) };
        const startedAt = performance.now();
        const reply = await files.fetch(new Request("http://localhost/page.html", init));
        if (reply?.status !== 200) throw new Error(`PATCH was answered ${reply?.status}`);
        await reply.arrayBuffer();
        return performance.now() - startedAt;
      };
      /** @param {number} length */
      const turnOf = async (length) => {
        count += 1;
        const list = Array.from({ length }, (_, index) => edit(`#bench-${(index * 37 + count) % 100}`, count));
        const ms = await patch(list);
        await patch(undoing);
        return ms;
      };
      /** @type {Record<1 | 100, number[]>} */
      const times = { 1: [], 100: [] };
      const turns = rounds === 1 ? 3 : 100;
      for (let turn = rounds === 1 ? -1 : -25; turn < turns; turn += 1) {
        for (const length of /** @type {const} */ ([1, 100])) {
          const ms = await turnOf(length);
          if (turn >= 0) times[length].push(ms);
        }
      }
      await files.close();
      const [one, many] = [median(times[1]), median(times[100])];
      rows.push([`${name}, ${place}`, one.toFixed(2), many.toFixed(2), (many / one).toFixed(2)]);
    }
  }
  printTable("PATCH of a page of 90 KB", ["edits", "1 edit, ms", "100 edits, ms", "100 of 1"], rows);
}
