// dufs as it comes, with changes allowed: node servers/dufs.mjs <root>
import { runExternal } from "./external.mjs";

const [root = "."] = process.argv.slice(2);
await runExternal("dufs", (port) => ["--bind", "127.0.0.1", "--port", String(port), "--allow-all", root]);
