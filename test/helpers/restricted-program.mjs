// Serves a directory, or the memory where none is named, and prints the replies to some requests.
// Arguments: perhaps a directory, and its durability.
import { createFileServer, memoryStorage } from "../../dist/index.js";

const { Deno } = /** @type {{ Deno?: { args: string[] } }} */ (globalThis);
const [root, durability] = Deno?.args ?? process.argv.slice(2);
const where = root === undefined ? { storage: memoryStorage() } : { root, durability: /** @type {any} */ (durability) };
const files = createFileServer({ ...where, listing: { edit: true }, onError: (error) => console.log(error) });
/** @type {(method: string, path: string, init?: RequestInit) => Promise<void>} */
const send = async (method, path, init) => {
  const reply = await files.fetch(new Request(`http://localhost${path}`, { method, ...init }));
  console.log(method, path, reply.status, (await reply.text()).length > 0 ? "content" : "nothing");
};
await send("PUT", "/a.html", { body: "<ul><li>a</ul>" });
await send("POST", "/a.html", { headers: { range: "selector=ul" }, body: "<li>b" });
await send("POST", "/a.html", { body: "<p>c" });
for (const path of ["/a.html", "/", "/.well-known/filement/listing.js"]) await send("GET", path);
await send("DELETE", "/a.html");
await files.close();
