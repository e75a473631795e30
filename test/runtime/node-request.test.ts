import { once } from "node:events";
import { Agent, createServer, IncomingMessage, request, ServerResponse } from "node:http";
import type { ClientHttp2Session, ClientHttp2Stream, Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { NodeIncoming, type NodeRequest, type NodeResponse } from "../../src/runtime/node-request.ts";
import { sendReply } from "../../src/runtime/send-reply.ts";
import { deferred } from "../helpers/deferred.ts";
import { send } from "../helpers/send.ts";
import { listen, openHttp2, openSocket, rawRequest } from "../helpers/serve.ts";

/** A request that no socket brought, with what frameworks add. */
function requestOf(fields: object): NodeRequest {
  const plain = { method: "GET", url: "/", headers: {}, rawHeaders: [], socket: {}, httpVersion: "1.1" };
  return { ...plain, ...fields } as unknown as NodeRequest;
}

const response = { once() {} } as unknown as NodeResponse;

type Answer = (incoming: NodeIncoming, request: IncomingMessage, response: ServerResponse) => unknown;

/** A server that shows each request to a test. */
async function serving(answer: Answer): Promise<{ port: number; url: string }> {
  const server = createServer(async (request, response) => {
    await answer(new NodeIncoming(request, response), request, response);
    if (!response.writableEnded) response.end();
  });
  const port = await listen(server);
  return { port, url: `http://127.0.0.1:${port}` };
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const incomplete = expect.objectContaining({ status: 400, code: "INCOMPLETE_BODY" });

describe("the mount point", () => {
  it.each([
    ["nobody", { url: "/a?x=1" }, ["", "/a?x=1", "/a?x=1"]],
    ["Express", { url: "/a?x=1", originalUrl: "/docs/a?x=1", baseUrl: "/docs" }, ["/docs", "/a?x=1", "/docs/a?x=1"]],
    ["Express at its root", { url: "/a", originalUrl: "/docs", baseUrl: "/docs" }, ["/docs", "/a", "/docs"]],
    ["Express twice", { url: "/a", originalUrl: "/x/y/a", baseUrl: "/x/y" }, ["/x/y", "/a", "/x/y/a"]],
    ["Express at /", { url: "/a", originalUrl: "/a", baseUrl: "" }, ["", "/a", "/a"]],
    ["Connect", { url: "/a/b?x=1", originalUrl: "/docs/a/b?x=1" }, ["/docs", "/a/b?x=1", "/docs/a/b?x=1"]],
    ["Connect at its root", { url: "/", originalUrl: "/docs" }, ["/docs", "/", "/docs"]],
    ["Connect at its root with a slash", { url: "/", originalUrl: "/docs/" }, ["/docs", "/", "/docs/"]],
    ["Connect at its root with a query", { url: "/?x=1", originalUrl: "/docs?x=1" }, ["/docs", "/?x=1", "/docs?x=1"]],
    ["middleware that rewrote the URL", { url: "/new", originalUrl: "/old/path" }, ["", "/new", "/old/path"]],
  ])("of %s is told from what is left of the URL", (_who, fields, expected) => {
    const { mount, target, url } = new NodeIncoming(requestOf(fields), response);
    expect([mount, target, url]).toEqual(expected);
  });
});

describe("a request of node", () => {
  it("shows what came over the wire", async () => {
    const seen: unknown[] = [];
    const { port } = await serving(({ method, url, headers, peer, encrypted, httpVersion, isUpgrade }, request) => {
      const fields = { method, url, mine: headers["x-mine"], peer, encrypted, httpVersion, isUpgrade };
      seen.push(fields, new NodeIncoming(request, response).count("x-mine"));
    });
    await rawRequest(port, "PROPFIND", "/../a%20b?x#y", ["X-Mine: 1", "x-mine: 2"]);
    expect(seen[0]).toEqual({
      method: "PROPFIND",
      url: "/../a%20b?x#y",
      mine: "1, 2",
      peer: "127.0.0.1",
      encrypted: false,
      httpVersion: "1.1",
      isUpgrade: false,
    });
    expect(seen[1]).toBe(2);
  });

  it("gives its content, and 400 where the client leaves in the middle of it", async () => {
    const whole = await serving(async (incoming, _request, answer) => answer.end(await textOf(incoming.content())));
    expect((await send(whole.url, "PUT", "/", { body: "content" })).text).toBe("content");

    const { promise: outcome, resolve: settle } = deferred<unknown>();
    const { promise: hasArrived, resolve: arrived } = deferred();
    const cut = await serving(async (incoming) => {
      try {
        for await (const _piece of incoming.content()) arrived();
        settle("complete");
      } catch (error) {
        settle(error);
      }
    });
    const socket = await openSocket(cut.port);
    socket.write("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf");
    await hasArrived;
    socket.destroy();
    expect(await outcome).toEqual(incomplete);
  });

  it.each([
    [
      "resets its request",
      (_session: ClientHttp2Session, stream: ClientHttp2Stream) => stream.destroy(new Error("left")),
    ],
    ["leaves", (session: ClientHttp2Session) => session.destroy()],
  ])("gives 400 where a client over HTTP/2 %s in the middle of it", async (_how, leave) => {
    const arrived = deferred<readonly [Http2ServerRequest, Http2ServerResponse]>();
    const session = await openHttp2((request: Http2ServerRequest, answer: Http2ServerResponse) =>
      arrived.resolve([request, answer]),
    );
    session.on("error", () => {});
    const stream = session.request({ ":method": "PUT", ":path": "/" });
    stream.on("error", () => {});
    stream.write("half");
    const [request, answer] = await arrived.promise;
    const reading = (async () => {
      for await (const _piece of new NodeIncoming(request, answer).content()) leave(session, stream);
    })();
    await expect(reading).rejects.toEqual(incomplete);
  });

  it("leaves the connection to the reply when its content is not read to the end", async () => {
    const { url } = await serving(async (incoming, _request, answer) => {
      for await (const _piece of incoming.content()) break;
      answer.end("enough");
    });
    expect((await send(url, "PUT", "/", { body: "x".repeat(1000) })).text).toBe("enough");
  });
});

it.each<[string, string | Readable]>([
  ["whole", "bytes"],
  ["as a stream", Readable.from(["by", "tes"])],
])("is answered %s where its connection is a plain object, as in adapters for cloud functions", async (_how, body) => {
  const request = new IncomingMessage({ encrypted: true } as never);
  request.complete = true;
  const response = new ServerResponse(request);
  let written = "";
  const write = (data: unknown, _encoding: unknown, done?: () => void): void => {
    written += data;
    done?.();
  };
  response.assignSocket({ writable: true, _writableState: {}, on() {}, cork() {}, uncork() {}, write } as never);
  const incoming = new NodeIncoming(request, response);
  expect([incoming.encrypted, incoming.signal().aborted]).toEqual([true, false]);
  await sendReply(request, response, { status: 200, headers: { "content-length": "5" }, body });
  expect(written.split("\r\n\r\n")[1]).toBe("bytes");
});

describe("a request to take over the connection", () => {
  const upgrade = (headers: object) => new NodeIncoming(requestOf({ headers }), response, "upgrade");

  it("is a web socket handshake where it says so, and where it came as an upgrade", () => {
    expect(upgrade({ upgrade: "WebSocket" }).isUpgrade).toBe(true);
    expect(upgrade({ upgrade: "h2c" }).isUpgrade).toBe(false);
    expect(new NodeIncoming(requestOf({ headers: { upgrade: "websocket" } }), response).isUpgrade).toBe(false);
  });
});

describe("the signal of a request", () => {
  it("is aborted when the client leaves before the reply is complete", async () => {
    const { promise: isAborted, resolve: aborted } = deferred();
    let signal: AbortSignal | undefined;
    const { port } = await serving(async (incoming) => {
      signal = incoming.signal();
      signal.addEventListener("abort", () => aborted());
      socket.destroy();
      await isAborted;
    });
    const socket = await openSocket(port);
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await isAborted;
    expect(signal?.aborted).toBe(true);
  });

  it("is aborted already where the client had left before anybody asked", async () => {
    const { promise: wasAborted, resolve: settle } = deferred<boolean>();
    const { port } = await serving(async (incoming, request) => {
      const closed = once(request.socket, "close");
      socket.destroy();
      await closed;
      settle(incoming.signal().aborted);
    });
    const socket = await openSocket(port);
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await wasAborted).toBe(true);
  });

  it("is not aborted by a reply that ends, nor by the connection that closes after it", async () => {
    const signals: AbortSignal[] = [];
    let closed: Promise<unknown> = Promise.resolve();
    const { port } = await serving((incoming, request) => {
      signals.push(incoming.signal());
      closed = once(request.socket, "close");
    });
    await rawRequest(port, "GET", "/");
    await closed;
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });

  it("leaves no listener behind on a connection that 50 requests share", async () => {
    const counts: number[] = [];
    const ports = new Set<number | undefined>();
    const { port } = await serving((incoming, { socket }) => {
      counts.push(socket.listenerCount("close"));
      ports.add(socket.remotePort);
      incoming.signal();
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    for (let i = 0; i < 50; i++) {
      const outgoing = request({ port, host: "127.0.0.1", agent }).end();
      const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
      await buffer(incoming);
    }
    expect(ports.size).toBe(1);
    expect(Math.max(...counts)).toBe(counts[0]);
  });

  it("is aborted of every request that waits behind others on a connection that closes", async () => {
    const signals: AbortSignal[] = [];
    const { promise: haveArrived, resolve: allArrived } = deferred();
    const closed: Promise<unknown>[] = [];
    const { port } = await serving(async (incoming, request) => {
      closed.push(once(request.socket, "close"));
      signals.push(incoming.signal());
      if (signals.length === 3) allArrived();
      await Promise.all(closed);
    });
    const socket = await openSocket(port);
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3));
    await haveArrived;
    socket.destroy();
    await Promise.all(closed);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
  });
});
