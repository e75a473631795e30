// Filement with a history of all changes: node servers/filement-history.mjs <root> <repository> [durability]
import { createFileServer, history } from "filement";
import { listen } from "./listen.mjs";

const [root = ".", repository = "", durability] = process.argv.slice(2);
listen(
  createFileServer({
    root,
    durability: durability === "rename" ? "rename" : "fsync",
    plugins: [history({ repository })],
  }),
);
