// Filement as on a system without abstract sockets, where a file is locked within its process only:
// node servers/filement-alone.mjs <root> [durability]
const { platform } = process;
Object.defineProperty(process, "platform", { value: "none" });
await import("../../../build/storage/disk/disk-locks.js");
Object.defineProperty(process, "platform", { value: platform });
const [node = "", program = "", root = ".", durability = ""] = process.argv;
process.argv = [node, program, root, durability, new URL("../../../build/index.js", import.meta.url).href];
await import("./filement.mjs");

export {};
