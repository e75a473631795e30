import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { HttpError } from "../../src/http/http-error.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { fastClock } from "../helpers/fast-clock.ts";
import { gate } from "../helpers/gate.ts";
import { exchangeBytes, listen, openSocket } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { onDisk, type TestSite, testSite } from "../helpers/test-site.ts";

const site = async (config: Omit<FileServerConfig, "root" | "storage"> = {}): Promise<TestSite> =>
  testSite(await onDisk(await temporaryDirectory(), { "/a.txt": "a" }), config);

/** A request from its lines; `Host` and `Connection: close` go with it. */
const closing = (line: string, fields: readonly string[] = [], body = ""): string =>
  [`${line} HTTP/1.1`, "Host: a", ...fields, "Connection: close", "", body].join("\r\n");
const keeping = (line: string, fields: readonly string[] = [], body = ""): string =>
  [`${line} HTTP/1.1`, "Host: a", ...fields, "", body].join("\r\n");

const statuses = (answers: string): string[] =>
  [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => code ?? "");
const denying: Plugin = {
  name: "denying",
  handle: () => Promise.reject(new HttpError(401, "UNAUTHORIZED", "Say who you are.")),
};

describe("Expect: 100-continue", () => {
  const expecting = (line: string, length: number): string =>
    keeping(line, [`Content-Length: ${length}`, "Expect: 100-continue"]);

  it("is told to go on by what wants the content, which then arrives", async () => {
    const { port, textAt } = await site();
    const socket = await openSocket(port);
    socket.write(expecting("PUT /new.txt", 5));
    expect(String((await once(socket, "data"))[0])).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write("hello");
    expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 201 /);
    expect(await textAt("/new.txt")).toBe("hello");
  });

  it.each([
    ["too large", "PUT /new.txt", 1001, {}, "413"],
    ["hidden", "PUT /.env", 5, {}, "403"],
    ["a directory", "PUT /dir/", 5, {}, "405"],
    ["not found", "POST /missing", 5, {}, "404"],
    ["denied", "PUT /new.txt", 5, { plugins: [denying] }, "401"],
    ["under maintenance", "PUT /new.txt", 5, { maintenance: true }, "503"],
  ] as const)("is not told to go on where the request is refused: %s", async (_why, line, length, config, status) => {
    fastClock();
    const { port, everything } = await site({ maxFileSize: 1000, ...config });
    expect(statuses(await exchangeBytes(port, expecting(line, length)))).toEqual([status]);
    expect(await everything()).toEqual(["/a.txt"]);
  });

  it("never has its content parsed as a request, when the client sends it all the same", async () => {
    const { port, textAt } = await site({ maxFileSize: 10 });
    const smuggled = closing("DELETE /a.txt");
    const answer = await exchangeBytes(port, expecting("PUT /new.txt", smuggled.length) + smuggled);
    expect([statuses(answer), await textAt("/a.txt")]).toEqual([["413"], "a"]);
  });

  it("does not matter to a GET", async () => {
    const { port } = await site();
    expect(statuses(await exchangeBytes(port, closing("GET /a.txt", ["Expect: 100-continue"]))).at(-1)).toBe("200");
  });

  it("is 417 with anything else", async () => {
    const { port } = await site();
    expect(statuses(await exchangeBytes(port, closing("GET /a.txt", ["Expect: miracles"])))).toEqual(["417"]);
  });
});

describe("an upgrade that nobody accepts", () => {
  const upgrade = (to: string): string[] => [`Upgrade: ${to}`, "Connection: Upgrade"];
  const webSocket = [
    ...upgrade("websocket"),
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];

  it("is 404 for a web socket, as plain HTTP, and the connection is closed", async () => {
    const { port } = await site();
    const answer = await exchangeBytes(port, keeping("GET /a.txt", webSocket));
    expect(statuses(answer)).toEqual(["404"]);
    expect(answer).toMatch(/^connection: close\r$/im);
    expect(answer).toMatch(/^x-request-id: /im);
    expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code: "NOT_FOUND" });
  });

  it.each(["h2c", "TLS/1.0", "foo"])("is answered like the request that it also is: %s", async (to) => {
    const { port } = await site();
    const answer = await exchangeBytes(port, keeping("GET /a.txt", upgrade(to)));
    expect([statuses(answer), answer.endsWith("\r\n\r\na")]).toEqual([["200"], true]);
    expect(statuses(await exchangeBytes(port, keeping("GET /missing", upgrade(to))))).toEqual(["404"]);
    expect(statuses(await exchangeBytes(port, keeping("DELETE /a.txt", upgrade(to))))).toEqual(["204"]);
  });

  it.each(["h2c", "websocket"])("is no way to write: PUT and POST with Upgrade: %s store nothing", async (to) => {
    const { port, textAt, everything, changes } = await site();
    for (const [line, fields] of [
      ["PUT /a.txt", ["Content-Length: 3"]],
      ["PUT /new.txt", ["Content-Length: 3"]],
      ["POST /a.txt", ["Content-Length: 3"]],
      ["PUT /a.txt", ["Transfer-Encoding: chunked"]],
    ] as const) {
      const body = fields[0].startsWith("C") ? "new" : "3\r\nnew\r\n0\r\n\r\n";
      const answer = await exchangeBytes(port, keeping(line, [...upgrade(to), ...fields], body));
      expect(answer).toMatch(to === "h2c" ? /^HTTP\/1\.1 400 .*UPGRADE_WITH_CONTENT/s : /^HTTP\/1\.1 4\d\d /);
    }
    expect([await everything(), await textAt("/a.txt"), changes]).toEqual([["/a.txt"], "a", []]);
  });

  it("does not let what follows be a request", async () => {
    const { port, textAt } = await site();
    const answer = await exchangeBytes(port, keeping("GET /a.txt", upgrade("h2c")) + closing("DELETE /a.txt"));
    expect([statuses(answer), await textAt("/a.txt")]).toEqual([["200"], "a"]);
  });

  it.each(["h2c", "websocket"])(
    "costs a client its connection, and nothing else, behind an open request: %s",
    async (to) => {
      const { plugin, entered, release } = gate();
      const { port, send, textAt } = await site({ plugins: [plugin] });
      const answer = exchangeBytes(port, keeping("GET /slow") + keeping("DELETE /a.txt", upgrade(to)));
      await entered;
      expect(await answer).toBe("");
      release();
      expect((await send("GET", "/a.txt")).status).toBe(200);
      expect(await textAt("/a.txt")).toBe("a");
    },
  );

  it("goes through the same checks", async () => {
    const { port, outcomes, ended } = await site({ plugins: [denying] });
    expect(statuses(await exchangeBytes(port, keeping("GET /a.txt", webSocket)))).toEqual(["401"]);
    expect(statuses(await exchangeBytes(port, keeping("GET /%00", webSocket)))).toEqual(["400"]);
    await ended(2);
    expect(outcomes.map(({ status }) => status)).toEqual([401, 400]);
  });
});

describe("several requests on one connection", () => {
  it("are answered in order, though they were sent at once", async () => {
    const { port } = await site();
    const put = (content: string) => keeping("PUT /b.txt", [`Content-Length: ${content.length}`], content);
    const answers = await exchangeBytes(
      port,
      put("one") + keeping("GET /b.txt") + put("two") + keeping("GET /missing") + closing("GET /b.txt"),
    );
    expect(statuses(answers)).toEqual(["201", "200", "200", "404", "200"]);
    expect(answers).toMatch(/\r\n\r\none.*\r\n\r\ntwo$/s);
  });

  it("are done in order: of many writes to one file the last remains", async () => {
    const { port, textAt, changes } = await site();
    const sizes = [200_000, 1, 50_000, 2, 0, 3];
    const puts = sizes.map((size) => keeping("PUT /b.txt", [`Content-Length: ${size}`], "x".repeat(size)));
    expect(statuses(await exchangeBytes(port, puts.join("") + closing("GET /b.txt")))).toEqual([
      ...["201", "200", "200", "200", "200", "200"],
      "200",
    ]);
    expect([await textAt("/b.txt"), changes.length]).toEqual(["xxx", 6]);
  });

  it("are not done behind a reply that closes the connection, since nobody would be told", async () => {
    const last: Plugin = {
      name: "last",
      async handle(_exchange, next) {
        const reply = await next();
        return { ...reply, headers: { ...reply.headers, connection: "close" } };
      },
    };
    const { port, textAt, ended, outcomes } = await site({ plugins: [last] });
    const answer = await exchangeBytes(port, keeping("GET /a.txt") + keeping("DELETE /a.txt"));
    await ended(1);
    expect([statuses(answer), await textAt("/a.txt"), outcomes.length]).toEqual([["200"], "a", 1]);
  });

  it("are not done behind a client that has left", async () => {
    let leave = (): void => {};
    const patient: Plugin = {
      name: "patient",
      async handle(exchange, next) {
        if (exchange.path !== "/slow") return next();
        const left = once(exchange.signal, "abort"); // the server knows by then
        leave();
        await left;
        return { status: 200, headers: {}, body: "at last" };
      },
    };
    const { port, textAt, ended, outcomes } = await site({ plugins: [patient] });
    const socket = await openSocket(port);
    leave = () => socket.destroy();
    socket.write(keeping("GET /slow") + keeping("DELETE /a.txt"));
    await ended(1);
    expect([await textAt("/a.txt"), outcomes.length]).toEqual(["a", 1]);
  });

  it("are refused where 1,000 wait for one, and then read no further until that is answered", async () => {
    const { plugin, release } = gate();
    const { storage } = await onDisk(await temporaryDirectory(), { "/a.txt": "a" });
    const server = createServer(createFileServer({ storage, plugins: [plugin] }));
    const connected = once(server, "connection");
    const socket = await openSocket(await listen(server));
    const [connection] = await connected;
    const paused = once(connection, "pause");
    socket.write(keeping("GET /slow") + keeping("GET /a.txt").repeat(5000) + closing("GET /a.txt"));
    await paused;
    release();
    const answered = statuses(await text(socket));
    expect(new Set(answered.slice(0, 1001))).toEqual(new Set(["200"]));
    expect([answered.length, answered[1001], answered.at(-1)]).toEqual([5002, "503", "200"]);
  });

  it("may have empty lines between them", async () => {
    const { port } = await site();
    const answers = await exchangeBytes(port, `\r\n${keeping("GET /a.txt")}\r\n${closing("GET /a.txt")}`);
    expect(statuses(answers)).toEqual(["200", "200"]);
  });
});

describe("HTTP/1.0", () => {
  it("has its connection closed, and never a chunk", async () => {
    const { port } = await site();
    const file = await exchangeBytes(port, "GET /a.txt HTTP/1.0\r\n\r\n");
    expect(file).toMatch(/^HTTP\/1\.1 200 .*connection: close.*\r\n\r\na$/is);
    const listing = await exchangeBytes(port, "GET / HTTP/1.0\r\nAccept: application/json\r\n\r\n");
    expect(listing).not.toMatch(/transfer-encoding/i);
    expect(JSON.parse(listing.split("\r\n\r\n")[1] ?? "").entries).toHaveLength(1);
  });

  it("can write", async () => {
    const { port, textAt } = await site();
    expect(statuses(await exchangeBytes(port, "PUT /b.txt HTTP/1.0\r\nContent-Length: 1\r\n\r\nb"))).toEqual(["201"]);
    expect(await textAt("/b.txt")).toBe("b");
  });
});

describe("a request whose end two servers could see at different places", () => {
  const smuggled = closing("DELETE /a.txt");
  const chunk = `0\r\n\r\n${smuggled}`;

  it.each<[string, readonly string[], string]>([
    ["Content-Length and Transfer-Encoding", [`Content-Length: ${chunk.length}`, "Transfer-Encoding: chunked"], chunk],
    ["Transfer-Encoding and Content-Length", ["Transfer-Encoding: chunked", "Content-Length: 4"], chunk],
    ["two lengths", ["Content-Length: 1", `Content-Length: ${smuggled.length}`], smuggled],
    ["two lengths in one field", ["Content-Length: 1, 1"], `x${smuggled}`],
    ["a length with a sign", ["Content-Length: +1"], `x${smuggled}`],
    ["a length that is none", ["Content-Length: 1x"], `x${smuggled}`],
    ["a negative length", ["Content-Length: -1"], `x${smuggled}`],
    ["a length in hexadecimal", ["Content-Length: 0x1"], `x${smuggled}`],
    ["a length beyond all numbers", ["Content-Length: 99999999999999999999"], `x${smuggled}`],
    ["an unknown transfer coding", ["Transfer-Encoding: xchunked"], chunk],
    ["chunked, not at the end", ["Transfer-Encoding: chunked, identity"], chunk],
    ["a space before the colon", ["Transfer-Encoding : chunked"], chunk],
    ["a continued field", ["Transfer-Encoding:", " chunked"], chunk],
    ["a bare line feed", ["X: y\nTransfer-Encoding: chunked", "Content-Length: 4"], chunk],
    ["a chunk of no size", ["Transfer-Encoding: chunked"], `x\r\n\r\n${smuggled}`],
    ["a chunk with a sign", ["Transfer-Encoding: chunked"], `-1\r\n\r\n${smuggled}`],
    ["a chunk that is longer than it says", ["Transfer-Encoding: chunked"], `1\r\nxx\r\n0\r\n\r\n${smuggled}`],
  ])("is refused, and nothing of it is done: %s", async (_what, fields, body) => {
    const { port, textAt, everything, changes } = await site();
    const answer = await exchangeBytes(port, keeping("PUT /new.txt", fields, body));
    expect(statuses(answer)).toEqual(["400"]);
    expect([await everything(), await textAt("/a.txt"), changes]).toEqual([["/a.txt"], "a", []]);
  });
});
