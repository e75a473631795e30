import { once } from "node:events";
import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../../src/config.ts";
import { webSocket } from "../../../src/plugins/web-socket.ts";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";
import { openSocket, serve } from "../../helpers/serve.ts";

const right = {
  Host: "site.example",
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
} as const;

/** Header fields; `undefined` leaves one of the right ones out, an array is sent as several fields. */
type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The first bytes that a handshake is answered with. */
async function answerTo(port: number, fields: Fields, line = "GET /ws HTTP/1.1", content = ""): Promise<Answer> {
  const all: Fields = { ...right, ...fields };
  const lines = Object.entries(all).flatMap(([name, value = []]) => [value].flat().map((each) => `${name}: ${each}`));
  const socket = await openSocket(port);
  socket.write(`${[line, ...lines].join("\r\n")}\r\n\r\n${content}`);
  const [chunk] = await once(socket, "data");
  const text = String(chunk);
  const [, code] = /"code":"(\w+)"/.exec(text) ?? [];
  return { status: Number(text.split(" ")[1]), code, text };
}

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly text: string;
}

async function serveSockets(config: Partial<FileServerConfig> = {}): Promise<number> {
  const { port } = await serve({ storage: memoryStorage(), plugins: [webSocket()], ...config });
  return port;
}

const invalid = [400, "INVALID_HANDSHAKE"] as const;
const wrongVersion = [426, "UPGRADE_REQUIRED"] as const;
const notAllowed = [405, "METHOD_NOT_ALLOWED"] as const;
const withContent = [400, "UPGRADE_WITH_CONTENT"] as const;
const key = "Sec-WebSocket-Key";
const version = "Sec-WebSocket-Version";
const protocol = "Sec-WebSocket-Protocol";

describe("the handshake of a web socket", () => {
  it.each<[string, Fields, string?]>([
    ["as browsers send it", { Origin: "http://site.example", "Sec-WebSocket-Extensions": "permessage-deflate" }],
    ["with Upgrade in capitals", { Upgrade: "WebSocket" }],
    ["with subprotocols", { [protocol]: "chat, super-chat" }],
    ["with subprotocols in two fields", { [protocol]: ["chat", "super-chat"] }],
    ["with a Content-Length of 0", { "Content-Length": "0" }],
    ["with the whole URL", {}, "GET http://site.example/ws HTTP/1.1"],
  ])("is accepted %s", async (_what, fields, line) => {
    const { status, text } = await answerTo(await serveSockets(), fields, line);
    expect(status).toBe(101);
    expect(text).not.toMatch(/^sec-websocket-(extensions|protocol):/im);
  });

  it.each<[string, readonly [number, string], Fields, (string | undefined)?, string?]>([
    ["with POST", notAllowed, {}, "POST /ws HTTP/1.1"],
    ["in HTTP/1.0", invalid, {}, "GET /ws HTTP/1.0"],
    ["without Upgrade", wrongVersion, { Upgrade: undefined }],
    ["with Connection without Upgrade", wrongVersion, { Connection: "keep-alive" }],
    ["without a version", wrongVersion, { [version]: undefined }],
    ["with two versions", wrongVersion, { [version]: ["13", "13"] }],
    ["without a key", invalid, { [key]: undefined }],
    ["with a key that is no base64", invalid, { [key]: "dGhlIHNhbXBsZSBub25j*g==" }],
    ["with two keys", invalid, { [key]: [right[key], right[key]] }],
    ["with a subprotocol that is no name", invalid, { [protocol]: "chat room" }],
    ["with an empty subprotocol", invalid, { [protocol]: "chat,," }],
    ["with a subprotocol twice", invalid, { [protocol]: "chat, chat" }],
    ["with two origins", [403, "CROSS_SITE"], { Origin: ["http://site.example", "http://site.example"] }],
    ["with content", withContent, { "Content-Length": "5" }, undefined, "hello"],
    ["with content in chunks", withContent, { "Transfer-Encoding": "chunked" }, undefined, "0\r\n\r\n"],
  ])("is refused %s", async (_what, [status, code], fields, line, content) => {
    expect(await answerTo(await serveSockets(), fields, line, content)).toMatchObject({ status, code });
  });

  it("says which version it speaks", async () => {
    const { text } = await answerTo(await serveSockets(), { [version]: "8" });
    expect(text).toMatch(/^sec-websocket-version: 13\r$/im);
    expect(text).toMatch(/^upgrade: websocket\r$/im);
  });

  describe("of a page", () => {
    const crossSite = { status: 403, code: "CROSS_SITE" };

    it.each([
      ["another site", { Origin: "http://evil.example" }],
      ["another site, in the words of the browser", { "Sec-Fetch-Site": "cross-site" }],
      [
        "another site that names itself in a field of proxies",
        { Origin: "http://e.example", "X-Forwarded-Host": "e.example" },
      ],
    ])("of %s is refused", async (_what, fields) => {
      expect(await answerTo(await serveSockets(), fields)).toMatchObject(crossSite);
    });

    it.each<[string, Fields]>([
      ["the site itself", { Origin: "http://site.example" }],
      ["the site itself behind a proxy that ends TLS", { Origin: "https://site.example" }],
      ["the site itself, in the words of the browser", { "Sec-Fetch-Site": "same-origin" }],
    ])("of %s is accepted", async (_what, fields) => {
      expect((await answerTo(await serveSockets(), fields)).status).toBe(101);
    });
  });

  it("may have the first frames right behind it", async () => {
    const socket = await openSocket(await serveSockets());
    const lines = Object.entries(right).map(([name, value]) => `${name}: ${value}\r\n`);
    const ping = "\x89\x80\0\0\0\0"; // masked with zeros
    socket.write(Buffer.from(`GET /ws HTTP/1.1\r\n${lines.join("")}\r\n${ping}`, "latin1"));
    let answer = "";
    while (!answer.endsWith("\x8a\0")) answer += (await once(socket, "data"))[0].toString("latin1");
    expect(answer).toMatch(/^HTTP\/1.1 101 /);
  });
});
