import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type ClientHttp2Session, constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { beforeEach, describe, expect, it } from "vitest";
import { drain, sendReply } from "../../src/runtime/send-reply.ts";
import type { Reply, Sent } from "../../src/server/reply.ts";
import { deferred } from "../helpers/deferred.ts";
import { fastClock } from "../helpers/fast-clock.ts";
import { send } from "../helpers/send.ts";
import { exchangeBytes, listen, openHttp2, openSocket } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { fileAt } from "../storage/content.ts";

interface Sender {
  readonly port: number;
  /** What became of the replies so far, in the order in which they ended. */
  readonly sent: readonly Sent[];
  /** Settles with what became of the first reply. */
  readonly first: Promise<Sent>;
}

/** A server that answers every request with what `reply` makes, by nothing but `sendReply`. */
async function sender(reply: (request: IncomingMessage) => Reply, isLast = false): Promise<Sender> {
  const { sent, first, settle } = outcomes();
  const server = createServer(async (request, response) => {
    settle(await sendReply(request, response, reply(request), isLast));
  });
  return { port: await listen(server), sent, first };
}

function outcomes(): { sent: Sent[]; first: Promise<Sent>; settle: (sent: Sent) => void } {
  const sent: Sent[] = [];
  const { promise: first, resolve } = deferred<Sent>();
  return {
    sent,
    first,
    settle: (each) => {
      sent.push(each);
      resolve(each);
    },
  };
}

/** The same over HTTP/2. */
async function http2Sender(reply: () => Reply): Promise<Omit<Sender, "port"> & { session: ClientHttp2Session }> {
  const { sent, first, settle } = outcomes();
  const session = await openHttp2(async (request: Http2ServerRequest, response: Http2ServerResponse) => {
    settle(await sendReply(request, response, reply()));
  });
  return { sent, first, session };
}

/** Content that never ends. */
function endless(): Readable {
  return new Readable({
    read() {
      this.push(Buffer.alloc(16_384));
    },
  });
}

/** Content that fails after its first piece. */
function failing(failure: Error): Readable {
  const pieces = async function* (): AsyncGenerator<string> {
    yield "first";
    throw failure;
  };
  return Readable.from(pieces());
}

const ok = (body?: Reply["body"], headers: Reply["headers"] = {}): Reply => ({
  status: 200,
  headers,
  ...(body !== undefined && { body }),
});

describe("a reply over HTTP/1", () => {
  it.each<[string, Reply["body"], string, number]>([
    ["text as UTF-8", "naïve", "naïve", 6],
    ["bytes", new Uint8Array([104, 105]), "hi", 2],
    ["a stream of bytes", Readable.from([Buffer.from("a"), Buffer.from("bc")]), "abc", 3],
    ["a stream of text", Readable.from(["ï", "x"]), "ïx", 3],
    ["an empty stream", Readable.from([]), "", 0],
    ["nothing", undefined, "", 0],
  ])("carries %s", async (_what, body, received, bytes) => {
    const { port, first } = await sender(() => ok(body));
    const answer = await send(`http://127.0.0.1:${port}`, "GET", "/");
    expect(answer.text).toBe(received);
    expect(await first).toEqual({ bytes, aborted: false });
  });

  it.each<[string, Reply["headers"]]>([
    ["name", { "no name": "a" }],
    ["value", { a: "line\r\nbreak" }],
  ])("rejects with nothing sent for a field whose %s is not HTTP, and releases the content", async (_part, headers) => {
    const body = endless();
    const rejected = new Promise((resolve) => {
      const server = createServer((request, response) => {
        try {
          sendReply(request, response, ok(body, headers));
        } catch (error) {
          resolve([error instanceof TypeError, response.headersSent]);
          response.end();
        }
      });
      listen(server).then((port) => send(`http://127.0.0.1:${port}`, "GET", "/"));
    });
    expect(await rejected).toEqual([true, false]);
    expect(body.destroyed).toBe(true);
  });

  it("waits for a client that reads slowly, and holds little of the content meanwhile", async () => {
    let produced = 0;
    const body = new Readable({
      read() {
        produced += 65_536;
        this.push(produced > 64 * 1024 * 1024 ? null : Buffer.alloc(65_536));
      },
    });
    const { port, first } = await sender(() => ok(body));
    const socket = await openSocket(port);
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    await expect.poll(() => body.readableLength).toBeGreaterThan(0); // and stays there
    expect(produced).toBeLessThan(32 * 1024 * 1024); // the buffers of two sockets, not the whole
    socket.resume();
    expect(await first).toEqual({ bytes: 64 * 1024 * 1024, aborted: false });
  });

  it("releases the content when the client leaves, and counts what went out", async () => {
    const body = endless();
    const { port, first } = await sender(() => ok(body));
    const socket = await openSocket(port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(socket, "data");
    socket.destroy();
    const sent = await first;
    expect(sent).toEqual({ bytes: expect.any(Number), aborted: true });
    expect(sent.bytes).toBeGreaterThan(0);
    expect(body.destroyed).toBe(true);
  });

  it("cuts the connection where the content fails half-way, and tells why", async () => {
    const failure = new Error("the disk is gone");
    const { port, first } = await sender(() => ok(failing(failure)));
    const answer = await exchangeBytes(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(answer).toContain("first");
    expect(answer).not.toContain("\r\n0\r\n\r\n"); // the end of chunked content
    expect(await first).toMatchObject({ aborted: true, failure });
  });

  it.each([
    ["sends more than it announced, which would be read as the next reply", ["abc", "HTTP/1.1 200 OK"]],
    ["lets less than it announced look complete", ["abc"]],
  ])("never %s", async (_what, pieces) => {
    const { port, first } = await sender(() => ok(Readable.from(pieces), { "content-length": "5" }));
    const answer = await exchangeBytes(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); // ends: the connection was cut
    expect(answer.split("\r\n\r\n")[1]).toBe("abc");
    expect(await first).toMatchObject({ bytes: 3, aborted: true, failure: expect.any(Error) });
  });

  it("tells the client that it is answered before there is content of unknown length", async () => {
    const body = new PassThrough();
    const { port } = await sender(() => ok(body));
    const socket = await openSocket(port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(String(await once(socket, "data"))).toContain("200 OK");
  });

  it("leaves a response alone that somebody else has begun", async () => {
    const { first, settle } = outcomes();
    const body = endless();
    const server = createServer(async (request, response) => {
      response.writeHead(503).write("too slow");
      settle(await sendReply(request, response, ok(body)));
      response.end();
    });
    const answer = await send(`http://127.0.0.1:${await listen(server)}`, "GET", "/");
    expect([answer.status, answer.text]).toEqual([503, "too slow"]);
    expect(await first).toEqual({ bytes: 0, aborted: true });
    expect(body.destroyed).toBe(true);
  });

  it("settles for a client that had left before", async () => {
    const { first, settle } = outcomes();
    const body = endless();
    const server = createServer(async (request, response) => {
      await once(request.socket, "close");
      settle(await sendReply(request, response, ok(body)));
    });
    const socket = await openSocket(await listen(server));
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(server, "request");
    socket.destroy();
    expect(await first).toEqual({ bytes: 0, aborted: true });
    expect(body.destroyed).toBe(true);
  });

  it("settles for a reply that waits behind another when the client leaves", async () => {
    const { sent, first, settle } = outcomes();
    const body = endless();
    const held: ServerResponse[] = [];
    const server = createServer(async (request, response) => {
      if (request.url === "/held") held.push(response);
      else settle(await sendReply(request, response, request.url === "/text" ? ok("text") : ok(body)));
    });
    const socket = await openSocket(await listen(server));
    const requests = ["/held", "/text", "/stream"].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const closed = once(body, "close");
    socket.write(requests.join(""));
    await expect.poll(() => body.readableLength).toBeGreaterThan(0); // nobody reads on: the reply has to wait
    socket.destroy();
    await Promise.all([first, closed]);
    await expect.poll(() => sent).toHaveLength(2); // the second reply settles in the steps after that
    expect(held).toHaveLength(1);
    expect(sent).toEqual([
      { bytes: 0, aborted: true },
      { bytes: 0, aborted: true },
    ]);
  });
});

describe("a reply to content that nobody read, over HTTP/1", () => {
  beforeEach(() => fastClock());

  const post = (fields: string): string => `POST / HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n`;

  it.each<[string, Reply["body"]]>([
    ["text", "refused"],
    ["a stream", Readable.from(["refused"])],
    ["nothing", undefined],
  ])("reaches a client that goes on sending, before the connection closes: %s", async (_what, body) => {
    const { port, first } = await sender(() => ({ ...ok(body, { "content-length": body ? "7" : "0" }), status: 401 }));
    const socket = await openSocket(port);
    socket.write(post("Content-Length: 100000000"));
    const goOn = (): boolean => socket.write(Buffer.alloc(65_536));
    socket.on("drain", goOn);
    while (goOn()); // until the system takes no more for now
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await first).toMatchObject({ aborted: false });
  });
});

describe("a reply over HTTP/2", () => {
  it("leaves out the fields that belong to a connection of HTTP/1", async () => {
    const fields = { connection: "close", "keep-alive": "timeout=5", upgrade: "h2c", "proxy-connection": "close" };
    const { session } = await http2Sender(() => ok("a", { ...fields, etag: '"1"' }));
    const [headers] = await once(session.request({ ":path": "/" }).resume(), "response");
    expect(headers).toMatchObject({ ":status": 200, etag: '"1"' });
    expect(Object.keys(headers).filter((name) => name in fields)).toEqual([]);
  });

  it("resets the stream where the content fails half-way, and tells why", async () => {
    const failure = new Error("the disk is gone");
    const { session, first } = await http2Sender(() => ok(failing(failure)));
    const stream = session.request({ ":path": "/" });
    const [error] = await once(stream.resume(), "error");
    expect(error).toMatchObject({ code: "ERR_HTTP2_STREAM_ERROR" });
    expect(stream.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    expect(await first).toMatchObject({ aborted: true, failure });
  });

  it.each<[string, (session: ClientHttp2Session, stream: ReturnType<ClientHttp2Session["request"]>) => void]>([
    ["resets the stream", (_session, stream) => stream.close(constants.NGHTTP2_CANCEL)],
    ["closes the connection", (session) => session.destroy()],
  ])("releases the content when the client %s", async (_how, leave) => {
    const body = endless();
    const { session, first } = await http2Sender(() => ok(body));
    const stream = session.request({ ":path": "/" }).on("error", () => {});
    await once(stream, "data");
    setImmediate(leave, session, stream);
    expect(await first).toMatchObject({ aborted: true });
    expect(body.destroyed).toBe(true);
  });

  it.each<[string, () => Reply["body"]]>([
    ["text", () => "refused"],
    ["a stream", () => Readable.from(["refused"])],
    ["nothing", () => undefined],
  ])("is whole for a client that goes on sending, who is told to stop: %s", async (_what, body) => {
    const { session, first } = await http2Sender(() => ({ ...ok(body()), status: 401 }));
    const stream = session.request({ ":path": "/", ":method": "PUT" });
    stream.write(Buffer.alloc(1000));
    let received = "";
    stream.setEncoding("utf8").on("data", (piece: string) => {
      received += piece;
    });
    const closed = once(stream, "close");
    const [headers] = await once(stream, "response");
    await closed;
    expect(headers[":status"]).toBe(401);
    expect(received).toBe(body() === undefined ? "" : "refused");
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    expect(await first).toMatchObject({ aborted: false });
  });
});

describe("draining", () => {
  it("stops after 64 KiB", async () => {
    fastClock();
    const source = endless();
    let drained = 0;
    source.on("data", (chunk: Buffer) => {
      drained += chunk.length;
    });
    await new Promise<void>((resolve) => drain(source, resolve));
    expect(drained).toBeGreaterThan(64 * 1024);
    expect(drained).toBeLessThan(96 * 1024);
    source.destroy();
  });
});

describe("a file in pieces", () => {
  const mebibyte = 1024 * 1024;

  /** A file of the disk as the content of a reply. */
  async function fileReply(content: Uint8Array, length = content.byteLength): Promise<Reply> {
    const location = join(await temporaryDirectory({ "a.bin": content }), "a.bin");
    const file = await fileAt(location);
    const body = file.stream();
    await file.close();
    return { status: 200, headers: { "content-length": String(length) }, body };
  }

  it("arrives whole at each of several clients that ask at once", async () => {
    const contents = Array.from({ length: 5 }, () => randomBytes(2 * mebibyte + 1));
    const replies = await Promise.all(contents.map((content) => fileReply(content)));
    const { port, sent } = await sender((request) => replies[Number(request.url?.slice(1))] as Reply);
    const answers = contents.map(async (_content, i) => (await fetch(`http://127.0.0.1:${port}/${i}`)).arrayBuffer());
    const arrived = (await Promise.all(answers)).map((bytes) => Buffer.from(bytes));
    expect(arrived.map((bytes, i) => bytes.equals(contents[i] as Buffer))).toEqual(contents.map(() => true));
    expect(sent).toEqual(contents.map(({ length }) => ({ bytes: length, aborted: false })));
  });

  it("goes through who follows the stream", async () => {
    const reply = await fileReply(randomBytes(mebibyte));
    let seen = 0;
    const { port } = await sender(() => {
      (reply.body as Readable).on("data", (chunk: Uint8Array) => {
        seen += chunk.byteLength;
      });
      return reply;
    });
    expect((await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer()).byteLength).toBe(mebibyte);
    expect(seen).toBe(mebibyte);
  });

  it("goes as a stream through a middleware that has a write of its own", async () => {
    const reply = await fileReply(randomBytes(mebibyte));
    let written = 0;
    const server = createServer((request, response) => {
      const { write } = response;
      // As `compression` does it: it takes the chunk, and calls nobody back.
      response.write = ((chunk: Uint8Array) => {
        written += chunk.byteLength;
        return write.call(response, Buffer.from(chunk), "utf8");
      }) as typeof write;
      void sendReply(request, response, reply);
    });
    const port = await listen(server);
    expect((await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer()).byteLength).toBe(mebibyte);
    expect(written).toBe(mebibyte);
  });
});
