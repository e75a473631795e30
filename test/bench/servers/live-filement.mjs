// Filement with its web socket plugin, told by messages what to do: node servers/live-filement.mjs
import { createServer } from "node:http";
import { createFileServer, memoryStorage, webSocket } from "filement";
import { answerCommands } from "./live-commands.mjs";

const page = "<!doctype html><title>T</title><ul id=todo><li>first</li></ul>";
const files = createFileServer({
  storage: memoryStorage({ "/page.html": page }),
  plugins: [webSocket({ maxClients: 20_000 })],
});
const server = createServer();
files.attach(server);

answerCommands(server, async (html) => {
  // The time of the commit: subscribed first, and therefore told before any client.
  let at = 0n;
  const unsubscribe = files.changes.subscribe(() => {
    at = process.hrtime.bigint();
  });
  const request = { method: "PUT", headers: { range: "selector=li" }, body: html };
  await files.fetch(new Request("http://127.0.0.1/page.html", request)).then((response) => response.text());
  unsubscribe();
  return at;
});
