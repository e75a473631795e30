// Filement as it comes: node servers/filement.mjs <root> [durability] [compiled library]
import { listen } from "./listen.mjs";

const [root = ".", durability, library = "filement"] = process.argv.slice(2);
/** @type {typeof import("filement")} */
const { createFileServer } = await import(library);
listen(
  createFileServer({ root, durability: durability === "rename" ? "rename" : "fsync", maxFileSize: 2 * 1024 ** 3 }),
);
