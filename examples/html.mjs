// Has browsers load the images of a page lazily, and leaves every other byte of the file as it is, without a server.
// Run: npm run build && node examples/html.mjs page.html
import { readFile, writeFile } from "node:fs/promises";
import { parsePage } from "filement/html";

const [file = "page.html"] = process.argv.slice(2);
const page = parsePage(await readFile(file));
const [images] = page.edit([
  { op: "setAttribute", selector: "img:not([loading])", name: "loading", value: "lazy" },
  // The first one of the text is seen at once.
  { op: "setAttribute", selector: "main img:first-of-type", name: "loading", value: "eager" },
]);
await writeFile(file, page.toBytes());
console.log(`${images?.matches} images`);
for (const { start, text } of images?.changes ?? []) console.log(`at ${start}: ${text}`);
