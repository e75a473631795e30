// Filement as on a system without abstract sockets, where a file is locked within its process only:
// node servers/filement-alone.mjs <root> [durability]
const { platform } = process;
Object.defineProperty(process, "platform", { value: "none" });
await import("../../../dist/storage/disk/machine-locks.js");
Object.defineProperty(process, "platform", { value: platform });
await import("./filement.mjs");

export {};
