// Makes random changes of the files below a root until killed: node writer.mjs <root> <repository> <seed> [redis url]
// With a Redis as if it were alone on its machine, with the files in a bucket.
// Each line that it prints is a change that was answered: method, path, entity tag, and the hash of what was sent.
import { createHash } from "node:crypto";
import { writeSync } from "node:fs";
import { readBucketUrl } from "../../../build/storage/s3/bucket-url.js";
import { createFileServer, history } from "../../../dist/index.js";
import { redisLocks } from "../../../dist/redis/index.js";
import { s3Storage } from "../../../dist/storage/s3/s3-storage.js";
import { s3Credentials as credentials } from "../../helpers/s3-credentials.mjs";

setInterval(() => {}, 60_000); // to wait for the lock of another process keeps no process alive
const [root = "", repository = "", seed = "1", redis] = process.argv.slice(2);
const bucket = readBucketUrl(root);
if (redis) Object.defineProperty(process, "platform", { value: "none" }); // that has no locks between processes
const files = createFileServer({
  ...(bucket ? { storage: s3Storage({ ...bucket, credentials }) } : { root, durability: "rename" }),
  feed: redis,
  plugins: [history({ repository, locks: redis ? redisLocks(redis, { lease: 1 }) : undefined })],
  // Commits are made again where the git of a killed process came first, and Redis may be slow on a busy machine.
  onError: (error) => /commits cannot be made|does not answer in time/.test(String(error)) || console.error(error),
});
await files.ready();
let state = Number(seed);
const random = (/** @type {number} */ below) => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((state / 2_147_483_648) * below);
};

/** @param {string} method @param {string} path @param {string | null} body */
async function send(method, path, body = null) {
  const response = await files.fetch(new Request(`http://localhost${path}`, { method, body }));
  await response.text();
  if (response.ok) say(method, path, response.headers.get("etag") ?? "-", body ?? "");
  else if (response.status !== 404) throw new Error(`${method} ${path}: ${response.status}`);
}

/** @param {string} method @param {string} path @param {string} etag @param {string} content */
function say(method, path, etag, content) {
  writeSync(1, `${method} ${path} ${etag} ${createHash("sha256").update(content).digest("hex")}\n`);
}

async function work(/** @type {number} */ number) {
  for (let i = 0; ; i += 1) {
    const line = `${process.pid}-${number} ${i}\n`;
    const kind = random(10);
    if (kind < 4) await send("PUT", `/${random(4)}.txt`, line.repeat(1 + random(20)));
    else if (kind < 7) await send("POST", `/log-${random(4)}.txt`, line);
    else if (kind < 9) {
      const { etag } = await files.edit("/page.html", [{ op: "setText", selector: "p", text: line }]);
      say("PATCH", "/page.html", etag, `<p>${line}</p>`);
    } else await send("DELETE", `/${random(4)}.txt`);
  }
}
await Promise.all([1, 2, 3, 4].map(work));
