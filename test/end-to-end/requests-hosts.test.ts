import { once } from "node:events";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { FileServerConfig, HostConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { send } from "../helpers/send.ts";
import { exchangeBytes, openHttp2, rawRequest, serve } from "../helpers/serve.ts";

type Fields = Readonly<Record<string, string>>;

const named = (name: string): HostConfig => ({ storage: memoryStorage({ "/name": name }) });
const hosts: Readonly<Record<string, HostConfig>> = {
  "One.example": { ...named("one"), aliases: ["www.one.example", "UN.example"] },
  "two.example": named("two"),
  "[2001:db8::1]": named("six"),
  "127.0.0.1": named("four"),
};
const everyName = { hosts: { ...hosts, "*": named("default") } };

/** Status and content of the file by which each host tells its name, or the code of an error. */
async function hostFor(config: FileServerConfig, headers: Fields): Promise<[number, string]> {
  const { url } = await serve(config);
  const answer = await send(url, "GET", "/name", { headers });
  return [answer.status, answer.text.startsWith("{") ? JSON.parse(answer.text).code : answer.text];
}

describe("virtual hosts", () => {
  it.each([
    ["one.example", "one"],
    ["ONE.Example", "one"],
    ["one.example:8080", "one"],
    ["one.example.:443", "one"],
    ["www.one.example", "one"],
    ["un.EXAMPLE.:1", "one"],
    ["127.0.0.1:3000", "four"],
    ["[2001:DB8::1]:8080", "six"],
    ["[2001:0db8:0:0:0:0:0:1]", "six"],
  ])("answer by the Host field: %s", async (host, name) => {
    expect(await hostFor({ hosts }, { host })).toEqual([200, name]);
  });

  it.each(["three.example", "xone.example", "a.one.example", "127.0.0.2", "[::1]", "toString", "__proto__"])(
    "leave every other name to the default host, and answer 421 UNKNOWN_HOST where there is none: %j",
    async (host) => {
      expect(await hostFor(everyName, { host })).toEqual([200, "default"]);
      expect(await hostFor({ hosts }, { host })).toEqual([421, "UNKNOWN_HOST"]);
    },
  );

  it.each(["*", "one.example:99999", "user@one.example", "one.example, b"])(
    "answer 400 INVALID_HOST to what is no host name, default or not: %s",
    async (host) => {
      expect(await hostFor({ hosts }, { host })).toEqual([400, "INVALID_HOST"]);
      expect(await hostFor(everyName, { host })).toEqual([400, "INVALID_HOST"]);
    },
  );

  it("have a storage beside `hosts` as their default", async () => {
    expect(await hostFor({ hosts, ...named("beside") }, { host: "three.example" })).toEqual([200, "beside"]);
    expect(await hostFor({ hosts, ...named("beside") }, { host: "two.example" })).toEqual([200, "two"]);
  });

  it("may be configured in any spelling of an address", async () => {
    const config = { hosts: { "[2001:DB8:0:0::0001]": { ...named("six"), aliases: ["[::FFFF:192.0.2.1]"] } } };
    expect(await hostFor(config, { host: "[2001:db8::1]:80" })).toEqual([200, "six"]);
    expect(await hostFor(config, { host: "[::ffff:c000:201]" })).toEqual([200, "six"]);
  });

  it("keep their files apart, and tell in a change which host it was", async () => {
    const { url, files } = await serve({ hosts: { a: named("a"), b: { ...named("b"), aliases: ["c"] } } });
    const changes: unknown[] = [];
    files.changes.subscribe(({ host, path }) => changes.push([host, path]));
    expect((await send(url, "PUT", "/new", { headers: { host: "C:8080" }, body: "x" })).status).toBe(201);
    expect((await send(url, "GET", "/new", { headers: { host: "a" } })).status).toBe(404);
    expect((await send(url, "GET", "/new", { headers: { host: "b" } })).status).toBe(200);
    expect(changes).toEqual([["c", "/new"]]);
  });

  it("are named by an absolute target rather than by the Host field", async () => {
    const { port } = await serve({ hosts });
    const ask = (target: string) => rawRequest(port, "GET", target, ["Host: two.example"]);
    expect(await ask("http://one.example/name")).toMatchObject({ status: 200, body: "one" });
    expect(await ask("HTTP://ONE.example.:99/name")).toMatchObject({ status: 200, body: "one" });
    expect((await ask("http://three.example/name")).status).toBe(421);
    expect((await ask("http://user@one.example/name")).status).toBe(400);
  });

  it("are refused where a request names two", async () => {
    const { port } = await serve(everyName);
    const { status, body } = await rawRequest(port, "GET", "/name", ["Host: one.example", "Host: two.example"]);
    expect([status, JSON.parse(body).code]).toEqual([400, "INVALID_HOST"]);
  });

  it("must be named in HTTP/1.1 and need not in HTTP/1.0", async () => {
    const { port } = await serve(everyName);
    expect(await exchangeBytes(port, "GET /name HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect(await exchangeBytes(port, "GET /name HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 .*default$/s);
    expect((await rawRequest(port, "GET", "/name", ["Host:"])).body).toBe("default");
  });

  it("are named by the authority in HTTP/2", async () => {
    const session = await openHttp2(createFileServer({ hosts }));
    const ask = async (fields: Fields): Promise<unknown> => {
      const stream = session.request({ ":path": "/name", ...fields });
      const [head] = await once(stream, "response");
      return [head[":status"], (await text(stream)).slice(0, 5)];
    };
    expect(await ask({ ":authority": "One.example:8080" })).toEqual([200, "one"]);
    expect(await ask({ ":authority": "one.example", host: "two.example" })).toEqual([200, "one"]);
    expect(await ask({ ":authority": "three.example" })).toEqual([421, '{"err']);
  });
});

describe("X-Forwarded-Host", () => {
  const fields = { host: "one.example", "x-forwarded-host": "two.example" };

  it.each([
    ["nobody", false, "one"],
    ["another proxy", "10.0.0.0/8", "one"],
    ["the peer", "loopback", "two"],
    ["everybody", true, "two"],
  ] as const)("counts only where the peer is trusted: %s", async (_who, trustProxy, name) => {
    expect(await hostFor({ hosts, trustProxy }, fields)).toEqual([200, name]);
  });

  it("is judged like a Host field", async () => {
    const at = (value: string) => hostFor({ hosts, trustProxy: true }, { ...fields, "x-forwarded-host": value });
    expect(await at("TWO.example.:8080")).toEqual([200, "two"]);
    expect(await at("two.example, one.example")).toEqual([200, "two"]);
    expect(await at("three.example")).toEqual([421, "UNKNOWN_HOST"]);
    expect(await at("two.example/..")).toEqual([400, "INVALID_HOST"]);
  });
});
