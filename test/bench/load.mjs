import { connect } from "node:net";

/**
 * What a server managed in a while.
 *
 * @typedef {object} Load
 * @property {number} requests
 * @property {number} requestsPerSecond
 * @property {number} megabytesPerSecond Content received, in 10^6 bytes.
 * @property {number} p99 Milliseconds within which 99 of 100 requests were answered.
 */

/**
 * What to ask for.
 *
 * @typedef {object} Task
 * @property {readonly Buffer[]} requests The bytes of each request, with its content; they are sent in turns.
 * @property {number} status Of the right reply.
 * @property {number} connections How many are open at a time; each has one request under way.
 */

/** A server that says nothing for so long has failed, in milliseconds. */
const patienceMs = 20_000;
const endOfHead = Buffer.from("\r\n\r\n");

/**
 * Keeps a server busy for a time, where there is no wrk. Bare sockets, because an HTTP client costs more than the servers it
 * would measure; even so, this process saturates before a fast server does.
 *
 * @param {number} port
 * @param {Task} task
 * @param {number} ms
 */
export async function load(port, task, ms) {
  /** @type {number[]} */
  const latencies = [];
  const started = performance.now();
  const end = started + ms;
  const inTurn = (/** @type {number} */ i) => /** @type {Buffer} */ (task.requests[i % task.requests.length]);
  const connections = Array.from({ length: task.connections }, (_, index) =>
    repeat(port, (count) => inTurn(index + count * task.connections), task.status, end, latencies),
  );
  const bytes = (await Promise.all(connections)).reduce((sum, each) => sum + each, 0);
  const seconds = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  return {
    requests: latencies.length,
    requestsPerSecond: latencies.length / seconds,
    megabytesPerSecond: bytes / 1e6 / seconds,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
  };
}

/**
 * Sends request after request over one connection until the time is up; returns how many bytes of content came back.
 *
 * @param {number} port
 * @param {(count: number) => Buffer} request
 * @param {number} status
 * @param {number} end
 * @param {number[]} latencies
 */
function repeat(port, request, status, end, latencies) {
  return new Promise((resolve, reject) => {
    let count = 0;
    let bytes = 0;
    let remaining = 0;
    let sentAt = 0;
    let head = Buffer.alloc(0);
    let isInHead = true;

    const send = () => {
      sentAt = performance.now();
      if (sentAt < end) socket.write(request(count++));
      else socket.destroy();
    };
    const finish = () => {
      latencies.push(performance.now() - sentAt);
      isInHead = true;
      head = Buffer.alloc(0);
      send();
    };
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.setTimeout(patienceMs, () => socket.destroy(new Error(`no answer within ${patienceMs} ms`)));
    socket.on("connect", send);
    socket.on("error", reject);
    socket.on("close", () => (sentAt < end ? reject(new Error("the server closed the connection")) : resolve(bytes)));
    socket.on("data", (chunk) => {
      let content = chunk;
      if (isInHead) {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const length = head.indexOf(endOfHead);
        if (length === -1) return;
        const fields = head.toString("latin1", 0, length);
        if (Number(fields.slice(9, 12)) !== status) {
          socket.destroy(new Error(`expected ${status}: ${fields}`));
          return;
        }
        isInHead = false;
        remaining = contentLength(fields);
        content = head.subarray(length + endOfHead.length);
      }
      bytes += content.length;
      remaining -= content.length;
      if (remaining === 0) finish();
    });
  });
}

/** @param {string} head */
function contentLength(head) {
  if (/^transfer-encoding:/im.test(head)) throw new Error(`the load generator needs a Content-Length: ${head}`);
  if (head.startsWith("HTTP/1.1 304")) return 0; // the length is that of the content which is not sent
  return Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
}

/**
 * The bytes of a request.
 *
 * @param {string} method
 * @param {string} path
 * @param {Readonly<Record<string, string>>} [fields]
 * @param {string | Buffer} [content]
 */
export function requestBytes(method, path, fields = {}, content) {
  const length = content === undefined ? {} : { "content-length": String(Buffer.byteLength(content)) };
  const lines = Object.entries({ host: "localhost", ...fields, ...length }).map(([name, value]) => `${name}: ${value}`);
  const head = Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
  return content === undefined ? head : Buffer.concat([head, Buffer.from(content)]);
}
