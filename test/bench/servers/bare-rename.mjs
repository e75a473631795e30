// What Node itself can do with the safety of a rename: node servers/bare-rename.mjs <root> [fsync]
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { buffer } from "node:stream/consumers";
import { listen } from "./listen.mjs";

const [root = ".", durability] = process.argv.slice(2);
let count = 0;

listen(async (request, response) => {
  const file = root + request.url;
  const content = await buffer(request);
  count += 1;
  const temporary = `${dirname(file)}/.bare-${count}.tmp`;
  const handle = await open(temporary, "wx");
  await handle.writeFile(content);
  if (durability === "fsync") await handle.sync();
  await handle.close();
  await rename(temporary, file);
  if (durability === "fsync") {
    const directory = await open(dirname(file));
    await directory.sync();
    await directory.close();
  }
  response.writeHead(200, { "content-length": 0 }).end();
});
