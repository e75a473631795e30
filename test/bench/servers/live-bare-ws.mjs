// The loop that everybody writes with `ws`, told by messages what to do: node servers/live-bare-ws.mjs
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { WebSocketServer } from "ws";
import { answerCommands } from "./live-commands.mjs";

const server = createServer();
const sockets = new WebSocketServer({ server });
let id = 0;

answerCommands(server, async (html) => {
  id += 1;
  const message = JSON.stringify({
    type: "change",
    id,
    kind: "elements-replaced",
    method: "PUT",
    host: "127.0.0.1",
    path: "/page.html",
    selector: "li",
    matches: 1,
    html,
    etag: '"0123456789abcdef-0123456789"',
    requestId: randomUUID(),
    time: new Date().toISOString(),
  });
  const at = process.hrtime.bigint();
  for (const client of sockets.clients) client.send(message);
  return at;
});
