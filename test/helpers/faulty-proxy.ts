import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { listen } from "./serve.ts";

/** Says which requests something happens to, each of which it is asked about once. */
export type WhichRequests = Pick<RegExp, "test">;

/** What happens to the connections through a proxy. */
export interface Faults {
  /** Cut the connection when a request that contains this text has arrived; nothing of it is passed on. */
  cutRequest?: WhichRequests | undefined;
  /** Cut the connection instead of the answer to a request that contains this text. */
  cutAnswer?: WhichRequests | undefined;
  /** Cut the connection within the answer to a request that contains this text, after that many bytes. */
  cutAfter?: { readonly request: RegExp; readonly bytes: number } | undefined;
  /** Answer a request that contains this text in place of the server, which does not get it. */
  refuse?: { readonly request: RegExp; readonly answer: string } | undefined;
  /** Give this answer in place of the server's to a request that contains this text, which the server has done. */
  replaceAnswer?: { readonly request: WhichRequests; readonly answer: string } | undefined;
  /** How often; then all is well again. @default 1 */
  times?: number | undefined;
}

/** A way to a server on which things go wrong as a test says. */
export interface FaultyProxy {
  readonly url: string;
  /** Has the next connections fail in this way, and no other. */
  fail(faults: Faults): void;
  /** Changes a byte of the answer to the next request that contains this text: so many bytes behind its beginning. */
  corrupt(request: RegExp, at: number): void;
  /** Keeps back the answers to requests that contain this text, until they are released. */
  hold(requests: RegExp): void;
  /** Lets everything through that was kept back, and what comes from now on. */
  release(): void;
  /** How often an answer was kept back. */
  readonly held: number;
  /** How often something went wrong. */
  readonly failures: number;
  /** How many connections are open. */
  readonly connections: number;
  /** Accepts no connections from now on, and cuts those that are open. */
  stop(): Promise<void>;
}

/** Passes connections on to a server of the loopback interface, until the test is over. */
export async function faultyProxy(target: string): Promise<FaultyProxy> {
  const { port } = new URL(target);
  const sockets = new Set<Socket>();
  let faults: Faults = {};
  let left = 0;
  let failures = 0;
  let holding: RegExp | undefined;
  let corrupting: { readonly request: RegExp; readonly at: number } | undefined;
  let held = 0;
  const keptBack = new Set<Socket>();
  const fails = (wanted: WhichRequests | undefined, request: string): boolean => {
    if (left === 0 || !wanted?.test(request)) return false;
    left -= 1;
    failures += 1;
    return true;
  };

  const server = createServer((client) => {
    const upstream = connect(Number(port), "127.0.0.1");
    const cut = (): void => {
      client.resetAndDestroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => sockets.delete(socket));
    }
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => client.destroy());
    // One request at a time: the client waits for the answer before it sends the next.
    let request = "";
    let remaining = Number.POSITIVE_INFINITY;
    let isAnswered = true;
    let dropsAnswer = false;
    let replacesAnswer = false;
    let corruptIn = Number.POSITIVE_INFINITY;
    client.on("data", (bytes) => {
      if (isAnswered) {
        isAnswered = false;
        request = "";
        remaining = Number.POSITIVE_INFINITY;
      }
      const isNew = request === "";
      request += bytes.toString("latin1", 0, isNew ? bytes.length : 0);
      if (isNew) {
        if (fails(faults.cutRequest, request)) return cut();
        if (fails(faults.refuse?.request, request)) return void client.end(faults.refuse?.answer ?? "");
        dropsAnswer = fails(faults.cutAnswer, request);
        replacesAnswer = fails(faults.replaceAnswer?.request, request);
        if (fails(faults.cutAfter?.request, request)) remaining = faults.cutAfter?.bytes ?? 0;
      }
      if (isNew && corrupting?.request.test(request)) {
        corruptIn = corrupting.at;
        corrupting = undefined;
      }
      if (isNew && holding?.test(request)) {
        held += 1;
        keptBack.add(upstream.pause());
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (/^HTTP\/1\.1 100 /.test(bytes.toString("latin1", 0, 12))) return void client.write(bytes);
      isAnswered = true;
      const at = Math.max(0, bytes.length - 1);
      corruptIn -= bytes.length;
      if (corruptIn < 0) {
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        corruptIn = Number.POSITIVE_INFINITY;
      }
      if (dropsAnswer) return cut();
      if (replacesAnswer) {
        upstream.removeAllListeners("data").resume();
        return void client.end(faults.replaceAnswer?.answer ?? "");
      }
      if (bytes.length < remaining) {
        remaining -= bytes.length;
        return void client.write(bytes);
      }
      client.write(bytes.subarray(0, remaining), () => cut());
      remaining = 0;
    });
  });
  const ownPort = await listen(server);
  const release = (): void => {
    holding = undefined;
    for (const socket of keptBack) socket.resume();
    keptBack.clear();
  };
  const stop = async (): Promise<void> => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(stop);
  return {
    url: `http://127.0.0.1:${ownPort}`,
    fail(wanted) {
      faults = wanted;
      left = wanted.times ?? 1;
    },
    corrupt(request, at) {
      corrupting = { request, at };
    },
    hold(requests) {
      holding = requests;
    },
    release,
    get held() {
      return held;
    },
    get failures() {
      return failures;
    },
    get connections() {
      return sockets.size / 2;
    },
    stop,
  };
}
