import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request as requestHttp } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as requestHttps, Agent as TlsAgent } from "node:https";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { Listener, type Timeouts } from "../../src/cli/listener.ts";
import { readTlsFiles } from "../../src/cli/tls-files.ts";
import { makeCertificate } from "../helpers/certificate.ts";
import { listen } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

type Answer = (
  request: IncomingMessage,
  response: { end(body?: string): unknown; write(body: string): unknown },
) => void;

const hello: Answer = (_request, response) => response.end("hello");

/** A listener that answers in a fixed way, stopped when the test is over. */
async function listening(
  isSecure: boolean,
  overrides: Partial<Timeouts> = {},
  answer: Answer = hello,
): Promise<{ listener: Listener; port: number }> {
  const tls = isSecure ? await readTlsFiles(await makeCertificate(await temporaryDirectory(), "first")) : undefined;
  const listener = new Listener(tls, overrides);
  (listener.server as NodeJS.EventEmitter).on("request", answer);
  const { port } = await listener.listen("127.0.0.1", 0);
  onTestFinished(() => {
    listener.stop();
    listener.finish();
  });
  return { listener, port };
}

async function open(isSecure: boolean, port: number, options: ConnectionOptions = {}): Promise<Socket> {
  const socket = isSecure
    ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options })
    : connect(port, "127.0.0.1");
  socket.on("error", () => socket.destroy());
  onTestFinished(() => void socket.destroy());
  await once(socket, isSecure ? "secureConnect" : "connect");
  return socket;
}

async function get(isSecure: boolean, port: number, agent: Agent | false = false): Promise<string> {
  const request = isSecure
    ? requestHttps({ port, host: "127.0.0.1", rejectUnauthorized: false, agent: agent as TlsAgent | false })
    : requestHttp({ port, host: "127.0.0.1", agent });
  const [response] = (await once(request.end(), "response")) as [IncomingMessage];
  return text(response);
}

/** Waits until the listener has closed, with no connection left. */
async function closed(listener: Listener): Promise<void> {
  await once(listener.server, "close");
  expect(listener.server.listening).toBe(false);
}

const kinds = [
  { kind: "HTTP", isSecure: false, tags: [] },
  { kind: "HTTPS", isSecure: true, tags: ["openssl"] },
] as const;

for (const { kind, isSecure, tags } of kinds)
  describe(`a listener for ${kind}`, { tags: [...tags] }, () => {
    it("closes a connection whose header section does not come", async () => {
      const { port } = await listening(isSecure, { headersTimeout: 30, connectionsCheckingInterval: 10 });
      const socket = await open(isSecure, port);
      socket.write("GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ");
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
    });

    it("closes a connection whose request does not end", async () => {
      const overrides = { headersTimeout: 20, requestTimeout: 30, connectionsCheckingInterval: 10 };
      const { port } = await listening(isSecure, overrides, () => {});
      const socket = await open(isSecure, port);
      socket.write("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
    });

    it("keeps a connection for the next request", async () => {
      const { port } = await listening(isSecure);
      const socket = await open(isSecure, port);
      for (let requests = 0; requests < 2; requests += 1) {
        socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        const [answer] = (await once(socket, "data")) as [Buffer];
        expect(String(answer)).toMatch(/^HTTP\/1\.1 200 [\s\S]*keep-alive/);
      }
    });

    it("closes a connection when no other request comes", async () => {
      const { port } = await listening(isSecure, { keepAliveTimeout: 50 });
      const socket = await open(isSecure, port);
      socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /); // and the end, which only the server can bring
    });

    it("closes a connection on which nothing moves, in the middle of a reply, too", async () => {
      const { port } = await listening(isSecure, { timeout: 50 }, (_request, response) => response.write("half"));
      const untilItCloses = async (): Promise<string> => {
        const socket = await open(isSecure, port);
        socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        return text(socket);
      };
      // On a busy machine a connection may be closed before its request has come.
      await expect.poll(untilItCloses).toContain("half");
    });

    it("stops at once when connections are only kept", async () => {
      const { listener, port } = await listening(isSecure, { drainMs: 60_000, closeMs: 60_000 });
      const agent = isSecure ? new TlsAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
      onTestFinished(() => agent.destroy());
      await get(isSecure, port, agent);
      const isClosed = closed(listener);
      listener.stop();
      await isClosed;
    });

    it("stops soon when a connection was opened and not used", async () => {
      const { listener, port } = await listening(isSecure, { drainMs: 60_000, closeMs: 10 });
      await open(isSecure, port);
      const bare = connect(port, "127.0.0.1"); // with TLS: in the middle of the handshake
      bare.on("error", () => {});
      await once(bare, "connect");
      await get(isSecure, port); // by now the server knows of it
      const isClosed = closed(listener);
      listener.stop();
      listener.finish();
      await isClosed;
    });

    it("waits for a request in flight when it stops, but not for ever", async () => {
      const { listener, port } = await listening(isSecure, { drainMs: 50 }, (_request, response) =>
        response.write("half"),
      );
      const socket = await open(isSecure, port);
      socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      await once(socket, "data");
      const isClosed = closed(listener);
      listener.stop();
      expect(socket.destroyed).toBe(false);
      await isClosed;
    });
  });

describe("a listener with a certificate", { tags: ["openssl"] }, () => {
  it("answers requests of HTTP/2", async () => {
    const { port } = await listening(true);
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    onTestFinished(() => void setImmediate(() => session.destroy()));
    expect(await text(session.request({ ":path": "/" }))).toBe("hello");
  });

  it("has sessions of HTTP/2 finish their requests when it stops, and takes no new ones", async () => {
    const replies: Array<{ end(body: string): unknown }> = [];
    const { listener, port } = await listening(true, { drainMs: 60_000 }, (_request, response) => {
      response.write("begun, ");
      replies.push(response);
    });
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    onTestFinished(() => void setImmediate(() => session.destroy()));
    const stream = session.request({ ":path": "/" });
    await once(stream, "response");
    const isTold = once(session, "goaway");
    const isClosed = closed(listener);
    listener.stop();
    await isTold;
    replies[0]?.end("done");
    expect(await text(stream)).toBe("begun, done");
    await isClosed;
  });

  it("lets a session of HTTP/2 have 100 requests under way", async () => {
    const { port } = await listening(true);
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    onTestFinished(() => void setImmediate(() => session.destroy()));
    await once(session, "remoteSettings");
    expect(session.remoteSettings.maxConcurrentStreams).toBe(100);
  });

  it.each([
    ["first", "hello"],
    ["behind a request", "hello"],
    ["beside a request", "half of the answer"],
  ])("closes a session of HTTP/2 whose header section comes byte by byte: %s", async (place, body) => {
    const answer: Answer = (_request, response) => (body === "hello" ? response.end(body) : response.write(body));
    const { port } = await listening(true, { headersTimeout: 50, keepAliveTimeout: 60 }, answer);
    const isFirst = place === "first";
    const socket = await open(true, port, { ALPNProtocols: ["h2"] });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const frame = (type: number, flags: number, stream: number, length: number): Buffer =>
      Buffer.from([0, length >> 8, length & 0xff, type, flags, 0, 0, 0, stream]);
    const toRoot = Buffer.from([0x82, 0x84, 0x87, 0x41, 0x01, 0x61]); // GET / over https, from the host "a"
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    socket.write(frame(4, 0, 0, 0));
    if (!isFirst) socket.write(Buffer.concat([frame(1, 5, 1, toRoot.length), toRoot]));
    socket.write(
      Buffer.concat([frame(1, 5, isFirst ? 1 : 3, 16_000), toRoot, Buffer.from([0x00, 0x01, 0x78, 0x7f, 0xff, 0x70])]),
    );
    const sending = setInterval(() => socket.write("a"), 5); // the value of the field "x"
    await closed;
    clearInterval(sending);
    expect((await open(true, port, { ALPNProtocols: ["h2"] })).destroyed).toBe(false);
  });

  it("closes a session of HTTP/2 on which nothing moves", async () => {
    const { port } = await listening(true, { timeout: 50 });
    const untilItCloses = async (): Promise<string> => {
      const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
      onTestFinished(() => void setImmediate(() => session.destroy()));
      const [answer] = await Promise.all([text(session.request({ ":path": "/" })), once(session, "close")]);
      return answer;
    };
    // On a busy machine a session may be closed before its request has come.
    await expect.poll(untilItCloses).toBe("hello");
  });

  it("shows a renewed certificate to new connections, with both protocols, and leaves the others alone", async () => {
    const { listener, port } = await listening(true);
    const nameOf = async (protocol: string): Promise<[TLSSocket, unknown]> => {
      const socket = (await open(true, port, { ALPNProtocols: [protocol] })) as TLSSocket;
      return [socket, [socket.alpnProtocol, socket.getPeerCertificate().subject.CN]];
    };
    const [old, before] = await nameOf("http/1.1");
    expect(before).toEqual(["http/1.1", "first"]);
    listener.renewCertificate(await readTlsFiles(await makeCertificate(await temporaryDirectory(), "second")));
    expect((await nameOf("h2"))[1]).toEqual(["h2", "second"]);
    expect((await nameOf("http/1.1"))[1]).toEqual(["http/1.1", "second"]);
    old.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(await text(old)).toContain("hello");
  });
});

describe("a listener that cannot listen", () => {
  it("says in a sentence that the port is in use", async () => {
    const port = await listen(createServer());
    const message = `port ${port} on 127.0.0.1 is in use; choose another with --port`;
    await expect(new Listener(undefined).listen("127.0.0.1", port)).rejects.toThrow(message);
  });

  it("says in a sentence that there is no such address", async () => {
    const listener = new Listener(undefined);
    await expect(listener.listen("192.0.2.1", 0)).rejects.toThrow(/^cannot listen on 192\.0\.2\.1:0: /);
  });
});
