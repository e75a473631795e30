// `npm run docs`: builds the site of the documentation, checks its links, and serves it with Filement.
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { build } from "vitepress";
import { createFileServer, errorPages } from "../../dist/index.js";
import { writeApiReference } from "../api-reference.mjs";
import { deadLinks } from "./dead-links.mjs";

writeApiReference();
const root = fileURLToPath(new URL("dist", import.meta.url));
await build(fileURLToPath(new URL(".", import.meta.url)), { outDir: root });
const dead = deadLinks(root, ["examples"]);
if (dead.length > 0) throw new Error(["Dead links:", ...dead].join("\n  "));

const files = createFileServer({
  root,
  readOnly: true,
  extensions: [".html"],
  cacheControl: { "/assets/*": "max-age=31536000, immutable" }, // their names change with their content
  compress: true,
  plugins: [errorPages({ pages: { 404: "/404.html" } })],
});
const server = createServer(files);
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
await once(server, "listening");

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    server.close();
    await files.close();
    server.closeAllConnections();
  });
}
const address = server.address();
console.log(`http://localhost:${typeof address === "object" ? address?.port : address}/`);
