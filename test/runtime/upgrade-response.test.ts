import { once } from "node:events";
import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { takeSocket } from "../../src/runtime/upgrade-response.ts";
import { fastClock } from "../helpers/fast-clock.ts";
import { listen, openSocket } from "../helpers/serve.ts";

interface Upgrade {
  readonly client: Socket;
  readonly socket: Socket;
  readonly response: ServerResponse | undefined;
}

const request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";

const taken = (response: ServerResponse, socket: Socket): ServerResponse | undefined =>
  takeSocket(response, socket) ? response : undefined;

/** Sends a request to take over the connection, and whatever stands before and after it. */
async function upgradeOf(before = "", after = ""): Promise<Upgrade> {
  const server = createServer(() => {}); // what comes before is never answered
  const client = await openSocket(await listen(server));
  client.write(before + request + after);
  const [incoming, socket] = (await once(server, "upgrade")) as [IncomingMessage, Socket];
  return { client, socket, response: taken(new ServerResponse(incoming), socket) };
}

describe("the response of an upgrade", () => {
  it("is plain HTTP, and closes the connection", async () => {
    const { client, socket, response } = await upgradeOf();
    const closed = once(socket, "close");
    response?.end("no");
    const answer = await text(client);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toMatch(/\r\nConnection: close\r\n/i);
    expect(answer.endsWith("\r\n\r\nno")).toBe(true);
    await closed;
  });

  it("wakes a writer when there is room again", async () => {
    const { client, response } = await upgradeOf();
    client.pause();
    expect(response?.write(Buffer.alloc(16 * 1024 * 1024))).toBe(false);
    const drained = once(response as ServerResponse, "drain");
    client.resume();
    await drained;
  });

  it("closes the connection to a client that has left", async () => {
    const { client, socket, response } = await upgradeOf();
    const closed = new Promise((resolve) => socket.once("close", resolve)); // with an error before it
    client.resetAndDestroy();
    response?.end(Buffer.alloc(1024 * 1024));
    await closed;
    expect(socket.destroyed).toBe(true);
  });

  it("closes the connection also to a client that goes on sending and never closes", async () => {
    fastClock();
    const { client, socket, response } = await upgradeOf("", "content that nobody asked for");
    client.allowHalfOpen = true;
    const closed = once(socket, "close");
    response?.end("no");
    await closed;
    expect(socket.destroyed).toBe(true);
  });
});
