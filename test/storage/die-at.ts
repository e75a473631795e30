// Run as a process of its own: node die-at.js <root> <operation> <step>. Performs the operation on /a.txt, and is killed
// as by `kill -9` at that step, counting everything that changes the disk; what is being added is then half added.
import syncFs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import workers from "node:worker_threads";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import { content } from "./content.ts";

const [, , root = "", operation = "", step = ""] = process.argv;
let steps = 0;
const isLastStep = (): boolean => ++steps === Number(step);
const die = (): void => void process.kill(process.pid, "SIGKILL");

const calls = syncFs as unknown as Record<string, (...values: unknown[]) => void>;
for (const name of "rename unlink link mkdir rmdir open fsync fdatasync ftruncate utimes".split(" ")) {
  const original = calls[name];
  calls[name] = (...values) => (isLastStep() ? die() : original?.(...values));
}
const { write } = calls;
calls["write"] = (...values) => {
  if (!isLastStep()) return write?.(...values);
  const [file, bytes, offset, length, position] = values as [number, Uint8Array, number, number, number | null];
  syncFs.writeSync(file, bytes, offset, Math.floor(length / 2), position);
  die();
};
// Steps in the thread of the disk, which may start in the middle of the operation, would not be counted.
workers.Worker = undefined as never;
syncBuiltinESMExports();

const storage = diskStorage(root);
const operations: Record<string, () => Promise<unknown>> = {
  write: () => storage.write("/a.txt", content("new content")),
  create: () => storage.write("/a.txt", content("new content"), { exclusive: true }),
  append: () => storage.append("/a.txt", content(" and new content")),
  update: () => storage.update("/a.txt", () => Buffer.from("new content")),
  remove: () => storage.remove("/a.txt"),
};
await operations[operation]?.();
