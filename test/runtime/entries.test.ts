import { createServer } from "node:http";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { ServeRequest } from "../../src/hosts/serve-request.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { mountOf } from "../../src/http/request-target.ts";
import { createEntries, type EntryOptions } from "../../src/runtime/entries.ts";
import type { Reply } from "../../src/server/reply.ts";
import { send } from "../helpers/send.ts";
import { exchangeBytes, listen } from "../helpers/serve.ts";

const options: EntryOptions = {
  fallthrough: false,
  life: { isClosing: false },
  mount: mountOf(),
  upgrades: "own",
  report: () => {},
};
const notFound = new HttpError(404, "NOT_FOUND", "No.");

/** Answers every request with what it asked for. */
const echo: ServeRequest = async ({ method, url, isUpgrade }, deliver) => {
  await deliver({ status: 200, headers: {}, body: `${method} ${url}${isUpgrade ? " upgrade" : ""}` });
};

const always =
  (reply: Reply): ServeRequest =>
  async (_incoming, deliver) => {
    await deliver(reply);
  };

describe("the entries of a server", () => {
  it("answer requests of a server that they listen to", async () => {
    const server = createServer();
    createEntries(echo, options).listenTo(server);
    const port = await listen(server);
    expect(await send(`http://127.0.0.1:${port}`, "GET", "/a?b")).toMatchObject({ status: 200, text: "GET /a?b" });
  });

  it("answer upgrades of a server that they listen to", async () => {
    const server = createServer();
    createEntries(echo, options).listenTo(server);
    const port = await listen(server);
    const head = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
    expect(await exchangeBytes(port, head)).toMatch(/^HTTP\/1\.1 200 [\s\S]*GET \/ws upgrade/);
  });

  it("hand the connection of an upgrade to the reply that accepts it", async () => {
    const server = createServer();
    const accept: Reply["accept"] = (socket) => void socket.end("mine now");
    createEntries(always({ status: 101, headers: {}, accept }), options).listenTo(server);
    const port = await listen(server);
    const head = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
    expect(await exchangeBytes(port, head)).toBe("mine now");
  });

  it.each([
    ["GET", true, "passed on"],
    ["DELETE", true, "passed on"],
    ["GET", false, ""],
  ])("pass %s of what is not there on, where fallthrough is %s: %j", async (method, fallthrough, expected) => {
    const reply = { status: 404, headers: {}, error: notFound };
    const { handle } = createEntries(always(reply), { ...options, fallthrough });
    const server = createServer((request, response) => handle(request, response, () => response.end("passed on")));
    const port = await listen(server);
    expect((await send(`http://127.0.0.1:${port}`, method, "/none")).text).toBe(expected);
  });

  it("close the connection after a reply while the server is closing", async () => {
    const { handle } = createEntries(echo, { ...options, life: { isClosing: true } });
    const port = await listen(createServer(handle));
    expect(await exchangeBytes(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")).toMatch(/connection: close/i);
  });

  it("answer a Request with a Response", async () => {
    const { fetch } = createEntries(echo, options);
    expect(await (await fetch(new Request("http://localhost/x")))?.text()).toBe("GET /x");
  });

  it("give up the content of a Response that nobody reads", async () => {
    const body = Readable.from(["a", "b"]);
    const { fetch, abandonUnread } = createEntries(always({ status: 200, headers: {}, body }), options);
    await fetch(new Request("http://localhost/x"));
    abandonUnread();
    expect(body.destroyed).toBe(true);
  });
});
