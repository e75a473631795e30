// Web socket clients in one process, which do no more than count: node servers/live-clients.mjs <port> <count>
import { connect } from "node:net";

const [port = "", count = ""] = process.argv.slice(2);
const total = Number(count);
/** How many connections are made at once; with more, some would be refused. */
const atOnce = 50;

let begun = 0;
let connected = 0;
let received = 0;
let awaited = 0;
let first = 0n;

process.on("message", (/** @type {number} */ messages) => {
  received = 0;
  awaited = messages * total;
  process.send?.("ready");
});
process.once("disconnect", () => process.exit());

for (let i = 0; i < atOnce; i += 1) connectNext();

function connectNext() {
  if (begun === total) return;
  begun += 1;
  const handshake = [
    "GET /ws HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
  ];
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(`${handshake.join("\r\n")}\r\n\r\n`);
  const countFrames = frameCounter();
  socket.once("data", (/** @type {Buffer} */ chunk) => {
    const head = chunk.indexOf("\r\n\r\n") + 4;
    if (!chunk.toString("latin1", 0, head).startsWith("HTTP/1.1 101 ")) throw new Error(chunk.toString());
    countFrames(chunk.subarray(head));
    socket.on("data", countFrames);
    connected += 1;
    if (connected === total) process.send?.("connected");
    connectNext();
  });
}

/** Counts the frames of a connection, whose bytes come piece by piece (RFC 6455 §5.2). */
function frameCounter() {
  /** @type {Buffer} */
  let rest = Buffer.alloc(0);
  return (/** @type {Buffer} */ chunk) => {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let length = frameLength(bytes); length <= bytes.length; length = frameLength(bytes)) {
      bytes = bytes.subarray(length);
      countMessage();
    }
    rest = bytes;
  };
}

/** @param {Buffer} bytes */
function frameLength(bytes) {
  if (bytes.length < 2) return Number.POSITIVE_INFINITY;
  const length = (bytes[1] ?? 0) & 0x7f;
  if (length < 126) return 2 + length;
  if (bytes.length < 10) return Number.POSITIVE_INFINITY;
  return length === 126 ? 4 + bytes.readUInt16BE(2) : 10 + Number(bytes.readBigUInt64BE(2));
}

function countMessage() {
  if (awaited === 0) return; // the greeting
  received += 1;
  if (received === 1) first = process.hrtime.bigint();
  if (received === awaited) process.send?.({ first: String(first), last: String(process.hrtime.bigint()) });
}
