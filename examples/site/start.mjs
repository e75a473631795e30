// `npm start`: serves a copy of this folder, so that playing with it leaves the checkout as it is.
import { once } from "node:events";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFileServer, webSocket } from "filement";

const root = await mkdtemp(join(tmpdir(), "filement-site-"));
await cp(fileURLToPath(new URL(".", import.meta.url)), root, {
  recursive: true,
  filter: (source) => !source.endsWith("start.mjs"),
});
// What makes these pages live, and what they link to.
const folders = { "live-page": "../live-page", board: "../kanban/site", docs: "../../docs" };
for (const [name, from] of Object.entries(folders)) {
  await cp(fileURLToPath(new URL(from, import.meta.url)), join(root, name), { recursive: true });
}

const files = createFileServer({ root, client: true, plugins: [webSocket()] });
const server = createServer();
files.attach(server);

async function stop() {
  server.close();
  await files.close();
  server.closeAllConnections();
  await rm(root, { recursive: true, force: true });
}

const port = Number(process.env["PORT"] ?? 3000);
try {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
} catch (error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
  console.error(code === "EADDRINUSE" ? `Port ${port} is in use. Choose another: PORT=3001 npm start` : message);
  await stop();
  process.exit(1);
}

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);

const address = server.address();
const site = `http://localhost:${typeof address === "object" ? address?.port : address}`;
for (const name of await readdir(root)) {
  if (!name.endsWith(".html")) continue;
  const page = await readFile(join(root, name), "utf8");
  await writeFile(join(root, name), page.replaceAll("http://localhost:3000", site));
}

console.log(`A copy of examples/site, made for this run in ${root}. Ctrl+C stops the server and removes it.

curl -H "Range: selector=#news li" ${site}/index.html
curl -X PUT -H "Range: selector=#headline" -d "<h1 id=headline>Hello, element.</h1>" ${site}/index.html
curl -X POST -H "Range: selector=#todo" -d "<li>Water the plants</li>" ${site}/to-do.html
curl -i -X DELETE -H "Range: selector=#todo .done" ${site}/to-do.html

${site}/`);
