// Run as a process of its own: node die-at.js <root> <operation> <step>. Performs the operation on /a.txt, and is killed
// as by `kill -9` at that step, counting everything that changes the disk; what is being added is then half added.
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import { content } from "./content.ts";

const [, , root = "", operation = "", step = ""] = process.argv;
let steps = 0;

const isLastStep = (): boolean => ++steps === Number(step);
const die = (): Promise<never> => {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
};

/** Makes a method of an object count, and at the last step die, instead of what it does. */
function countSteps<Key extends string>(
  object: Record<Key, (...values: never[]) => Promise<unknown>>,
  name: Key,
  beforeDeath: (self: never, ...values: never[]) => Promise<unknown> = async () => {},
): void {
  const original = object[name];
  object[name] = async function (this: never, ...values: never[]) {
    if (!isLastStep()) return original.apply(this, values);
    await beforeDeath(this, ...values);
    return die();
  };
}

const handle = await fs.open(process.execPath);
const handles = Object.getPrototypeOf(handle);
await handle.close();
const { write } = handles; // not counted where it adds a half

for (const name of ["rename", "unlink", "link", "mkdir", "rmdir", "open"] as const) countSteps(fs as never, name);
for (const name of ["sync", "truncate", "utimes", "chmod", "chown", "write"] as const) countSteps(handles, name);
countSteps(handles, "appendFile", (self: never, bytes: Uint8Array) =>
  write.call(self, bytes.subarray(0, bytes.length / 2)),
);
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
