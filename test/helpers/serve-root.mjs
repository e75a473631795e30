// Run as a process of its own: node serve-root.mjs <root> [durability] [address]. Serves a directory with the compiled library until
// it is killed, and prints where.
import { createServer } from "node:http";
import { createFileServer } from "../../dist/index.js";

const [, , root = "", durability = "fsync", host = "127.0.0.1"] = process.argv;
const onError = (/** @type {unknown} */ error) => console.error(error);
const files = createFileServer({ root, durability: durability === "rename" ? "rename" : "fsync", onError });
await files.ready();
const server = createServer(files).listen(0, host, () => {
  const address = server.address();
  console.log(`listening on http://${host}:${typeof address === "object" ? address?.port : ""}`);
});
