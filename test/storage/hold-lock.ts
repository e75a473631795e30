// Run as a process of its own: node hold-lock.js <key>. Takes the lock if it can be had at once, prints "held" and keeps it until
// it is killed; otherwise prints "taken" and ends.
import { lockProblem, machineLocks } from "../../src/storage/disk/disk-locks.ts";

const problem = await lockProblem();
if (problem !== undefined) throw new Error(problem);
const held = await machineLocks().tryAcquire(process.argv[2] ?? "");
console.log(held ? "held" : "taken");
if (held) setInterval(() => {}, 60_000);
