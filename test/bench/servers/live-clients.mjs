// Many web socket clients in one process, which do no more than count: node servers/live-clients.mjs <port> <path> <count>
import { connect } from "node:net";

const [port = "", path = "/", count = "0"] = process.argv.slice(2);
const total = Number(count);
/** Clients that have got each change, by the number of messages before it. */
let received = 0;
let expected = 0;
let first = 0n;

process.on("message", (/** @type {{ expect?: number, pause?: boolean }} */ command) => {
  if (command.expect !== undefined) {
    received = 0;
    first = 0n;
    expected = command.expect * total;
    process.send?.({ ready: true });
  }
});
process.once("disconnect", () => process.exit());

let next = 0;
for (let i = 0; i < 50; i += 1) connectNext();

/** A client after the other, 50 at once: more than a backlog of connections could hold would be refused. */
function connectNext() {
  if (next === total) return;
  next += 1;
  const socket = connect(Number(port), "127.0.0.1");
  const handshake = [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
  ];
  socket.write(`${handshake.join("\r\n")}\r\n\r\n`);
  let isOpen = false;
  /** Bytes of the current frame that are still to come. */
  let missing = 0;
  socket.on("data", (/** @type {Buffer} */ chunk) => {
    let at = 0;
    if (!isOpen) {
      at = chunk.indexOf("\r\n\r\n") + 4;
      if (!chunk.toString("latin1", 0, 12).includes(" 101")) throw new Error(chunk.toString());
      isOpen = true;
      connected();
    }
    while (at < chunk.length) {
      if (missing === 0) {
        const length = (chunk[at + 1] ?? 0) & 0x7f;
        if (length === 127) missing = 10 + Number(chunk.readBigUInt64BE(at + 2));
        else missing = length === 126 ? 4 + chunk.readUInt16BE(at + 2) : 2 + length;
      }
      const taken = Math.min(missing, chunk.length - at);
      at += taken;
      missing -= taken;
      if (missing === 0) count1();
    }
  });
  socket.on("error", (error) => {
    throw error;
  });
}

let open = 0;
function connected() {
  open += 1;
  connectNext();
  if (open === total) process.send?.({ port: 0 });
}

function count1() {
  if (expected === 0) return; // the greeting
  received += 1;
  if (received === 1) first = process.hrtime.bigint();
  if (received === expected) process.send?.({ first: String(first), last: String(process.hrtime.bigint()) });
}
