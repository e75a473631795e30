// Run as a process of its own: node serve-root.mjs <root> [durability] [address]. Serves a directory, or the bucket of an
// `s3://` URL, with the compiled library until it is killed, and prints where.
import { createServer } from "node:http";
import { createFileServer } from "../../dist/index.js";

const [, , root = "", durability = "fsync", host = "127.0.0.1"] = process.argv;
const onError = (/** @type {unknown} */ error) => console.error(error);
const where = root.startsWith("s3://") ? { storage: await bucketStorage(new URL(root)) } : { root };
const files = createFileServer({ ...where, durability: durability === "rename" ? "rename" : "fsync", onError });
await files.ready();
const server = createServer(files).listen(0, host, () => {
  const address = server.address();
  console.log(`listening on http://${host}:${typeof address === "object" ? address?.port : ""}`);
});

/** @param {URL} url */
async function bucketStorage({ host: bucket, pathname, searchParams }) {
  const { s3Storage } = await import("../../dist/storage/s3/s3-storage.js");
  const { s3Credentials: credentials } = await import("./s3-credentials.mjs");
  return s3Storage({ bucket, prefix: pathname.slice(1), endpoint: searchParams.get("endpoint") ?? "", credentials });
}
