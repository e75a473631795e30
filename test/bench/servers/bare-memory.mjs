// The most that Node can do: files in memory, and not a single check: node servers/bare-memory.mjs <root>
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { listen } from "./listen.mjs";

const [root = "."] = process.argv.slice(2);
const names = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) =>
  statSync(join(root, name)).isFile(),
);
const files = new Map(names.map((name) => [`/${name}`, readFileSync(join(root, name))]));

listen((request, response) => {
  const content = files.get(request.url ?? "") ?? Buffer.alloc(0);
  response.writeHead(200, { "content-type": "text/plain", "content-length": content.length }).end(content);
});
