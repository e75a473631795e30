// Run as a process of its own: node hold-lock.js <key>. Takes the lock, prints "held", and keeps it until it is killed.
import { machineLocks } from "../../src/storage/disk/disk-locks.ts";

await machineLocks()?.acquire(process.argv[2] ?? "");
console.log("held");
setInterval(() => {}, 60_000);
