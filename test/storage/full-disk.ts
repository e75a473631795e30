// Run as a process of its own, whose files may not grow beyond a few KiB: node full-disk.js <root>. Prints as JSON what
// the operations on /a.txt come to.
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import { content } from "./content.ts";

const storage = diskStorage(process.argv[2] ?? "");
const tooMuch = Buffer.alloc(1024 * 1024, "x");
const barelyTooMuch = Buffer.alloc(3000, "x");
const operations = [
  () => storage.write("/a.txt", content(tooMuch)),
  () => storage.write("/new/b.txt", content(tooMuch)),
  () => storage.append("/a.txt", content(tooMuch)),
  () => storage.append("/a.txt", content(barelyTooMuch)),
  () => storage.update("/a.txt", () => tooMuch),
];
const outcomes: unknown[] = [];
for (const operation of operations) {
  outcomes.push(
    await operation().then(
      () => "done",
      (error: { code?: unknown }) => error.code,
    ),
  );
}
console.log(JSON.stringify(outcomes));
