// Filement as it comes: node servers/filement.mjs <root> [durability]
import { createFileServer } from "filement";
import { listen } from "./listen.mjs";

const [root = ".", durability] = process.argv.slice(2);
listen(
  createFileServer({
    root,
    durability: durability === "rename" ? "rename" : "fsync",
    maxFileSize: 2 * 1024 ** 3,
  }),
);
