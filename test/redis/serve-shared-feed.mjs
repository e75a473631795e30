// Run as a process of its own: node serve-shared-feed.mjs <root> <redis url> <address> [mcp]. Serves a directory, or the bucket of an
// `s3://` URL, with `mcp` to agents, too, and shares its changes with other such processes, with times in which a test can wait for a gap. Prints where.
import { createServer } from "node:http";
import { createFileServer, webSocket } from "../../build/index.js";
import { mcp } from "../../build/plugins/mcp.js";
import { RedisFeed } from "../../build/redis/feed.js";
import { readBucketUrl } from "../../build/storage/s3/bucket-url.js";
import { s3Storage } from "../../build/storage/s3/s3-storage.js";
import { s3Credentials as credentials } from "../helpers/s3-credentials.mjs";

const [, , root = "", redis = "", host = "127.0.0.1", door = ""] = process.argv;
const bucket = readBucketUrl(root);
const feed = new RedisFeed(redis, {}, { patience: 500, block: 200, lease: 1_500 });
const files = createFileServer({
  ...(bucket ? { storage: s3Storage({ ...bucket, credentials }) } : { root, durability: "rename" }),
  feed,
  plugins: [webSocket(), ...(door === "mcp" ? [mcp()] : [])],
  onError: () => {},
});
const server = createServer();
files.attach(server);
await files.ready();
server.listen(0, host, () => {
  const address = server.address();
  console.log(`listening on http://${host}:${typeof address === "object" ? address?.port : ""}`);
});
