// What Node itself can do, without a single check: node servers/bare-http.mjs <root>
import { createReadStream } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { listen } from "./listen.mjs";

const [root = "."] = process.argv.slice(2);
const largestWhole = 1024 ** 2;

listen(async (request, response) => {
  const file = root + request.url;
  if (request.method === "PUT") {
    await writeFile(file, await buffer(request));
    response.writeHead(200, { "content-length": 0 }).end();
    return;
  }
  const { size } = await stat(file);
  response.writeHead(200, { "content-length": size });
  if (size <= largestWhole) response.end(await readFile(file));
  else createReadStream(file).pipe(response);
});
