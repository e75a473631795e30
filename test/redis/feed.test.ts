import { rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  createFileServer,
  eventStream,
  type FileServerConfig,
  memoryStorage,
  permissions,
  webSocket,
} from "../../src/index.ts";
import { RedisFeed } from "../../src/redis/feed.ts";
import { cableTo } from "../helpers/cable.ts";
import { connectLive, type LiveClient, type LiveMessage } from "../helpers/live-client.ts";
import { listen } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { redisServer } from "./redis-server.ts";

/** A Redis that is missed is missed soon; a slow machine is no server that has gone. */
const times = { patience: 400, block: 20, lease: 60_000, retry: 10 };

/** A server of its own files that shares its changes. */
async function instance(url: string, config: FileServerConfig = {}) {
  const onError = vi.fn();
  const files = createFileServer({
    storage: memoryStorage({ "/a.html": "<p>a</p>" }),
    plugins: [webSocket(), eventStream()],
    feed: new RedisFeed(url, {}, times),
    onError,
    ...config,
  });
  const server = createServer();
  files.attach(server);
  const origin = `http://127.0.0.1:${await listen(server)}`;
  onTestFinished(() => files.close());
  const heard: string[] = [];
  files.changes.subscribe(({ path }) => heard.push(path));
  await files.ready();
  const put = async (path: string, body = path): Promise<void> => {
    const response = await files.fetch(new Request(`http://localhost${path}`, { method: "PUT", body }));
    expect(response.ok).toBe(true);
  };
  return { files, origin, heard, onError, put };
}

/** What a client was told, without what says nothing here. */
function told(messages: readonly LiveMessage[]): string[] {
  return messages.map(({ type, path }) => path ?? type);
}

/** What a client is told up to a message. */
async function until(
  { inbox }: Pick<LiveClient, "inbox">,
  isLast: (message: LiveMessage) => boolean,
): Promise<LiveMessage[]> {
  const message = await inbox.next();
  return isLast(message) ? [message] : [message, ...(await until({ inbox }, isLast))];
}

/** What a client is told up to the change of a path. */
function untilPath(client: LiveClient, path: string): Promise<LiveMessage[]> {
  return until(client, (message) => message.path === path);
}

describe("a feed in Redis", { tags: ["redis-server"] }, () => {
  it("tells of a gap where the later of two servers' changes of a file was told first", async () => {
    const redis = await redisServer();
    const cable = await cableTo(redis.url);
    const storage = memoryStorage({ "/list.html": "<ul></ul>" });
    const slow = await instance(cable.url, {
      storage,
      feed: new RedisFeed(cable.url, {}, { ...times, patience: 60_000 }),
    });
    const other = await instance(redis.url, { storage });
    const client = await connectLive(other.origin, "/ws");
    const append = async ({ files }: typeof slow, item: string): Promise<void> => {
      const init = { method: "POST", body: `<li>${item}`, headers: { range: "selector=ul" } };
      expect((await files.fetch(new Request("http://localhost/list.html", init))).status).toBe(206);
    };
    for (const server of [slow, other]) {
      await append(server, "in order");
      await untilPath(client, "/list.html");
    }
    cable.silence();
    await append(slow, "first");
    await append(other, "second");
    expect(await client.inbox.next()).toMatchObject({ path: "/list.html", html: "<li>second" });
    cable.restore();
    expect(await client.inbox.next()).toMatchObject({ path: "/list.html", html: "<li>first" });
    expect(told(await client.inbox.take(2))).toEqual(["hello", "gap"]);
  });

  it("tells every change of every server to all, once, in one order and under the same ids", async () => {
    const { url } = await redisServer();
    const servers = await Promise.all(Array.from({ length: 3 }, () => instance(url)));
    const clients = await Promise.all(servers.map(({ origin }) => connectLive(origin, "/ws")));
    await Promise.all(
      servers.flatMap(({ put }, server) => Array.from({ length: 20 }, (_, index) => put(`/${server}-${index}`))),
    );
    const lists = await Promise.all(clients.map(({ inbox }) => inbox.take(61)));
    for (const list of lists) expect(list).toEqual(lists[0]);
    const [hello, ...changes] = lists[0] ?? [];
    expect(hello).toMatchObject({ type: "hello", id: 0 });
    expect(changes.map(({ id }) => id)).toEqual(changes.map((_, index) => index + 1));
    expect(new Set(changes.map(({ path }) => path)).size).toBe(60);
    for (const { heard } of servers) expect(heard).toEqual(told(changes));
    expect(servers.flatMap(({ onError }) => onError.mock.calls)).toEqual([]);
  });

  it("tells a client that comes back to another server what it missed, once", async () => {
    const { url } = await redisServer();
    const [one, other] = [await instance(url), await instance(url)];
    const client = await connectLive(one.origin, "/ws");
    await other.put("/1");
    const [hello, first] = await client.inbox.take(2);
    client.socket.terminate();
    await one.put("/2");
    await other.put("/3");
    await expect.poll(() => other.heard).toEqual(["/1", "/2", "/3"]);
    const back = await connectLive(other.origin, `/ws?feed=${hello?.feed}&since=${first?.id}`);
    await one.put("/4");
    expect(told(await untilPath(back, "/4"))).toEqual(["hello", "/2", "/3", "/4"]);
    const late = await instance(url); // which was not there when it happened
    const again = await connectLive(late.origin, `/ws?feed=${hello?.feed}&since=${first?.id}`);
    expect(told(await untilPath(again, "/4"))).toEqual(["hello", "/2", "/3", "/4"]);
    const reader = await fetch(`${late.origin}/events`, {
      headers: { "last-event-id": `${hello?.feed}:${first?.id}` },
    });
    let text = "";
    for await (const piece of reader.body ?? []) {
      text += new TextDecoder().decode(piece as Uint8Array);
      if (text.includes("/4")) break;
    }
    expect(text.match(/^id: .*$/gm)).toEqual([2, 3, 4].map((id) => `id: ${hello?.feed}:${id}`));
  });

  it("has the server that sends judge the rights; who may read a part of the page hears of an edit, and not what it was", async () => {
    const { url } = await redisServer();
    const anyone = { username: "*", permission: "allow" } as const;
    const rules = [
      { ...anyone, path: "/ws" },
      { ...anyone, path: "/a.html", selector: "i" },
    ];
    const strict = await instance(url, { plugins: [permissions({ rules }), webSocket()] });
    const one = await instance(url);
    const client = await connectLive(strict.origin, "/ws");
    await one.put("/secret.txt");
    await one.files.fetch(
      new Request("http://localhost/a.html", { method: "DELETE", headers: { range: "selector=p" } }),
    );
    const [, change = {}] = await client.inbox.take(2);
    expect(change).toMatchObject({ kind: "elements-deleted", path: "/a.html", id: 2 });
    expect(Object.keys(change)).not.toContain("selector");
    expect(strict.heard).toEqual(["/secret.txt", "/a.html"]);
  });

  it("carries the HTML of an edit, and of a large one only that it is to be read", async () => {
    const { url } = await redisServer();
    const [one, other] = [await instance(url), await instance(url)];
    const client = await connectLive(other.origin, "/ws?path=/a.html");
    const edit = { method: "PUT", headers: { range: "selector=p" }, body: "<p>b</p>" };
    await one.files.fetch(new Request("http://localhost/a.html", edit));
    const [, change] = await client.inbox.take(2);
    expect(change).toMatchObject({ kind: "elements-replaced", selector: "p", matches: 1, html: "<p>b</p>" });
    const large = `<p>${"x".repeat(100_000)}</p>`;
    await one.files.fetch(new Request("http://localhost/a.html", { ...edit, body: large }));
    const next = await client.inbox.next();
    expect(next).toMatchObject({ kind: "elements-replaced", selector: "p" });
    expect([next["html"], next["matches"]]).toEqual([undefined, undefined]); // to be read
  });

  it("has each server tell its own changes while Redis is away, and a gap when it is back", async () => {
    const redis = await redisServer({ keeps: true });
    const [one, other] = [await instance(redis.url), await instance(redis.url)];
    const client = await connectLive(one.origin, "/ws");
    await other.put("/before");
    expect(told(await client.inbox.take(2))).toEqual(["hello", "/before"]);
    await redis.kill();
    await one.put("/alone");
    await other.put("/elsewhere");
    const [alone, change] = await client.inbox.take(2);
    expect([alone, change]).toMatchObject([
      { type: "hello", id: 0 },
      { type: "change", id: 1, path: "/alone" },
    ]);
    expect(String(one.onError.mock.lastCall?.[0])).toMatch(
      /does not answer in time; changes are told on this server alone/,
    );
    expect(one.onError).toHaveBeenCalledTimes(1);
    await redis.start();
    // A change that the other tells alone stays there.
    await expect.poll(async () => [await other.put("/after"), one.heard.includes("/after")][1]).toBe(true);
    expect(told(await untilPath(client, "/after"))).toContain("gap");
    expect(one.heard.slice(0, 2)).toEqual(["/before", "/alone"]);
    expect(other.heard.slice(0, 2)).toEqual(["/before", "/elsewhere"]);
    expect([...one.heard, ...other.heard].filter((path) => path === "/alone" || path === "/elsewhere")).toHaveLength(2);
  });

  it("keeps the order through a break that is shorter than its patience, without a gap", async () => {
    const redis = await redisServer();
    const cable = await cableTo(redis.url);
    const [one, other] = [
      await instance(cable.url, { feed: new RedisFeed(cable.url, {}, { ...times, patience: 60_000 }) }),
      await instance(redis.url),
    ];
    const client = await connectLive(one.origin, "/ws");
    for (let round = 0; round < 5; round += 1) {
      const writing = [one.put(`/one-${round}`), other.put(`/other-${round}`)];
      cable.cut();
      await Promise.all(writing);
    }
    await expect.poll(() => [one.heard.length, other.heard.length]).toEqual([10, 10]);
    expect(one.heard).toEqual(other.heard);
    expect(told(await client.inbox.take(11))).toEqual(["hello", ...one.heard]);
    expect(one.onError).not.toHaveBeenCalled();
  });

  it("tells of a gap where Redis comes back empty, on every server, and under another name", async () => {
    const redis = await redisServer();
    const servers = [await instance(redis.url), await instance(redis.url)] as const;
    const clients = await Promise.all(servers.map(({ origin }) => connectLive(origin, "/ws")));
    await servers[0].put("/before");
    const greetings = await Promise.all(clients.map(({ inbox }) => inbox.take(2)));
    await redis.ask("FLUSHALL");
    const gaps = await Promise.all(clients.map(({ inbox }) => inbox.take(2)));
    expect(gaps.map(told)).toEqual([
      ["hello", "gap"],
      ["hello", "gap"],
    ]);
    expect(gaps[0]?.[0]?.feed).toBe(gaps[1]?.[0]?.feed);
    expect(gaps[0]?.[0]?.feed).not.toBe(greetings[0]?.[0]?.feed);
    await servers[1].put("/after");
    for (const { inbox } of clients) expect(await inbox.next()).toMatchObject({ path: "/after", id: 1 });
    const back = await connectLive(servers[1].origin, `/ws?feed=${greetings[0]?.[0]?.feed}&since=1`);
    expect(told(await back.inbox.take(2))).toEqual(["hello", "gap"]);
  });

  it("tells of a gap where a server has gone without a word, for what it did may be lost", async () => {
    const redis = await redisServer();
    const cable = await cableTo(redis.url);
    const leaving = (url: string): FileServerConfig => ({ feed: new RedisFeed(url, {}, { ...times, lease: 500 }) });
    const one = await instance(redis.url, leaving(redis.url));
    const lost = await instance(cable.url, leaving(cable.url));
    const client = await connectLive(one.origin, "/ws");
    await lost.put("/before");
    expect(told(await client.inbox.take(2))).toEqual(["hello", "/before"]);
    await expect.poll(() => lost.heard).toEqual(["/before"]);
    const itsClient = await connectLive(lost.origin, "/ws");
    cable.silence();
    for (const path of ["/1", "/2", "/3"]) await one.put(path);
    await lost.put("/alone");
    expect(told(await client.inbox.take(5))).toEqual(["/1", "/2", "/3", "hello", "gap"]);
    expect(told(await itsClient.inbox.take(3))).toEqual(["hello", "hello", "/alone"]);
    cable.restore();
    // Where it comes back, all clients hear of a gap, for what it has told alone.
    for (const each of [itsClient, client]) await until(each, ({ type }) => type === "gap");
    for (const path of ["/4", "/5"]) await one.put(path);
    expect(told(await itsClient.inbox.take(2))).toEqual(["/4", "/5"]);
    expect(lost.heard).toEqual(["/before", "/alone", "/4", "/5"]);
  });

  it("tells nobody of a gap where a server ends in order", async () => {
    const { url, ask } = await redisServer();
    const [one, other] = [await instance(url), await instance(url)];
    const client = await connectLive(one.origin, "/ws");
    expect(await ask("ZCARD", "{filement:feed}:servers")).toBe(":2\r\n");
    await other.put("/last");
    await other.files.close();
    expect(await ask("ZCARD", "{filement:feed}:servers")).toBe(":1\r\n"); // nobody is missed
    await one.put("/after");
    expect(told(await untilPath(client, "/after"))).toEqual(["hello", "/last", "/after"]);
  });

  it("starts without Redis, tells onError, and joins the others when it is there", async () => {
    const redis = await redisServer();
    await redis.kill();
    const one = await instance(redis.url);
    expect(String(one.onError.mock.lastCall?.[0])).toMatch(/changes are told on this server alone/);
    const client = await connectLive(one.origin, "/ws");
    await one.put("/alone");
    expect(told(await client.inbox.take(2))).toEqual(["hello", "/alone"]);
    await redis.start();
    const other = await instance(redis.url);
    expect(told(await client.inbox.take(2))).toEqual(["hello", "gap"]);
    await other.put("/together");
    expect((await client.inbox.next()).path).toBe("/together");
    expect(one.heard).toEqual(["/alone", "/together"]);
  });

  it("leaves nothing untold where more changes wait for Redis than there is room for", async () => {
    const cable = await cableTo((await redisServer()).url);
    const feed = new RedisFeed(cable.url, {}, { ...times, patience: 60_000 });
    onTestFinished(() => feed.close());
    const told: string[] = [];
    const restarts: boolean[] = [];
    await feed.start({
      tell: ({ path }) => told.push(path),
      restart: (_to, _past, hasGap) => restarts.push(hasGap),
      report() {},
    });
    cable.silence();
    const paths = Array.from({ length: 10_001 }, (_, index) => `/${index}`);
    for (const path of paths) {
      feed.send({ kind: "created", method: "PUT", host: "h", path, requestId: "r", time: "t" }, { site: "h" });
    }
    expect(told).toEqual(paths);
    expect(restarts).toEqual([true, false]); // at the start, and when it goes on alone
    cable.restore();
    await expect.poll(() => restarts).toEqual([true, false, true]);
  });

  it("waits for a Redis that is slow or refuses to write as long as its patience, and goes on alone then", async () => {
    const redis = await redisServer();
    const cable = await cableTo(redis.url);
    const feed = new RedisFeed(cable.url, {}, { ...times, patience: 60_000 });
    const [patient, one] = [await instance(cable.url, { feed }), await instance(cable.url)];
    const other = await instance(redis.url);
    const client = await connectLive(one.origin, "/ws");
    cable.delay(40);
    await patient.put("/slow");
    expect(told(await client.inbox.take(2))).toEqual(["hello", "/slow"]);
    expect([patient, one, other].flatMap(({ onError }) => onError.mock.calls)).toEqual([]);
    cable.delay(600);
    await one.put("/too-slow");
    expect(told(await client.inbox.take(2))).toEqual(["hello", "/too-slow"]);
    cable.delay(0);
    expect(told(await client.inbox.take(2))).toEqual(["hello", "gap"]);
    await redis.ask("CONFIG", "SET", "maxmemory", "1"); // it is full
    await one.put("/refused");
    expect(told(await client.inbox.take(2))).toEqual(["hello", "/refused"]);
    await redis.ask("CONFIG", "SET", "maxmemory", "0");
    expect(told(await client.inbox.take(2))).toEqual(["hello", "gap"]);
    await one.put("/last");
    await expect.poll(() => other.heard).toContain("/last");
    expect(other.heard).not.toContain("/refused");
  });

  it("is named by a URL", async () => {
    const { url } = await redisServer();
    const one = await instance(url, { feed: url });
    const other = await instance(url, { feed: url });
    await one.put("/1");
    await expect.poll(() => other.heard).toEqual(["/1"]);
  });

  it("has one server tell what several notice on the disk that they share", async () => {
    const { url } = await redisServer();
    const root = await temporaryDirectory();
    const watching = { storage: undefined, root, watch: true };
    const [one, other] = [await instance(url, watching), await instance(url, watching)];
    await one.put("/by-one.txt");
    await writeFile(join(root, "by-editor.txt"), "text");
    await expect.poll(() => other.heard).toContain("/by-editor.txt");
    await rm(join(root, "by-editor.txt"));
    await expect.poll(() => other.heard.length).toBe(3);
    await one.put("/last.txt");
    await expect.poll(() => other.heard).toContain("/last.txt");
    const all = ["/by-one.txt", "/by-editor.txt", "/by-editor.txt", "/last.txt"];
    await expect.poll(() => [one.heard, other.heard]).toEqual([all, all]);
  });
});
