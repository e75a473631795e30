// Keeps a directory for those who know a token, also in listings, archives and the feed of changes.
// Run: npm run build && node examples/guard.mjs
// Try: curl -H "X-Token: s3cret" -T README.md http://127.0.0.1:3000/members/readme.txt
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { createFileServer, eventStream, guard } from "filement";

const token = process.env["TOKEN"] ?? "s3cret";
const files = createFileServer({
  root: process.env["ROOT"] ?? fileURLToPath(new URL("site", import.meta.url)),
  listing: { zip: true },
  plugins: [
    guard({
      permits: ({ right, exchange }) => right === "read" || right === "list" || exchange.headers["x-token"] === token,
    }),
    guard({ covers: ["/members/*"], permits: ({ exchange }) => exchange.headers["x-token"] === token }),
    eventStream(),
  ],
});

const server = createServer(files);
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === "object" ? address?.port : address}`);
});
