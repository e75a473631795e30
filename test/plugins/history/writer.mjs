// Makes random changes of the files below a root until it is killed: node writer.mjs <root> <repository> <seed>
// Each line that it prints is a change that was answered: path, entity tag and hash of the content.
import { createHash } from "node:crypto";
import { writeSync } from "node:fs";
import { createFileServer, history } from "../../../dist/index.js";

setInterval(() => {}, 60_000); // to wait for the lock of another process keeps no process alive
const [root = "", repository = "", seed = "1"] = process.argv.slice(2);
const files = createFileServer({ root, durability: "rename", plugins: [history({ repository })] });
await files.ready();
let state = Number(seed);
const random = (/** @type {number} */ below) => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((state / 2_147_483_648) * below);
};
const say = (/** @type {string} */ path, /** @type {string} */ etag, /** @type {string} */ content) =>
  writeSync(1, `${path} ${etag} ${createHash("sha256").update(content).digest("hex")}\n`);

async function work(/** @type {number} */ number) {
  for (let i = 0; ; i += 1) {
    const path = `/${random(4)}.txt`;
    const content = `${process.pid} ${number} ${i}\n`.repeat(1 + random(20));
    const { etag } = await files.write(path, content);
    say(path, etag, content);
    if (random(3) === 0)
      await files.edit("/page.html", [{ op: "setText", selector: "p", text: `${process.pid}-${number}-${i}` }]);
  }
}
await Promise.all([1, 2, 3, 4].map(work));
