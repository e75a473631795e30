import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { type EventStreamOptions, eventStream } from "../../src/plugins/event-stream.ts";
import type { NewChange } from "../../src/server/change-feed.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { gate } from "../helpers/gate.ts";
import { Inbox, publish } from "../helpers/live-client.ts";
import { send } from "../helpers/send.ts";
import { openHttp2, openSocket, type Served, serve } from "../helpers/serve.ts";

/** An event as a browser reads it; a comment has no data. */
interface ServerSentEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly retry?: string;
}

const plain = { username: "ada", password: "secret", encryption: "plaintext" } as const;

function serveEvents(options: EventStreamOptions = {}, config: Partial<FileServerConfig> = {}): Promise<Served> {
  const storage = memoryStorage({ "/a.html": "<p id=one>one</p><p id=two>two</p>" });
  return serve({ storage, plugins: [eventStream(options)], ...config });
}

/** Reads a stream until the test is over. */
async function read(
  { url }: Pick<Served, "url">,
  target = "/events",
  headers: Readonly<Record<string, string>> = {},
): Promise<{ inbox: Inbox<ServerSentEvent>; response: Response; ended: Promise<void>; leave: () => void }> {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const response = await fetch(`${url}${target}`, { headers, signal: controller.signal });
  const inbox = new Inbox<ServerSentEvent>();
  return { inbox, response, ended: readEvents(response, inbox), leave: () => controller.abort() };
}

async function readEvents({ body }: Response, inbox: Inbox<ServerSentEvent>): Promise<void> {
  let text = "";
  try {
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (text + chunk).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        inbox.add(
          Object.fromEntries(
            block.split("\n").map((line) => line.split(/: ?/, 1).concat(line.replace(/^[^:]*: ?/, ""))),
          ),
        );
      }
    }
  } catch {
    // the test left, or the connection was cut
  }
}

const pathsOf = (events: readonly ServerSentEvent[]): unknown[] =>
  events.map(({ event, data = "{}" }) => JSON.parse(data).path ?? event);

describe("eventStream", () => {
  it("greets with the feed and its last id, and then tells of each change", async () => {
    const served = await serveEvents();
    const { inbox, response } = await read(served);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    });
    const feed = served.files.changes.name;
    expect(await inbox.next()).toEqual({
      retry: "2000",
      id: `${feed}:0`,
      event: "hello",
      data: `{"type":"hello","feed":"${feed}","id":0}`,
    });
    const headers = { range: "selector=#one", "x-request-id": "r-1" };
    await send(served.url, "PUT", "/a.html", { headers, body: "<p id=one>\n\n1</p>" });
    const { id, event, data = "" } = await inbox.next();
    expect([id, event]).toEqual([`${feed}:1`, "change"]);
    expect(JSON.parse(data)).toMatchObject({ type: "change", id: 1, html: "<p id=one>\n\n1</p>", requestId: "r-1" });
  });

  it("replays what came after the last event that a reader knows", async () => {
    const served = await serveEvents();
    publish(served, "/1", "/2", "/3");
    const feed = served.files.changes.name;
    const { inbox } = await read(served, "/events?since=0", { "last-event-id": `${feed}:1` });
    publish(served, "/4");
    const events = await inbox.take(4);
    expect(pathsOf(events)).toEqual(["hello", "/2", "/3", "/4"]);
    // With an id of its own the greeting would make the reader forget what it has still to be told.
    expect(events.map(({ id }) => id)).toEqual([undefined, `${feed}:2`, `${feed}:3`, `${feed}:4`]);
  });

  it("replays what came after ?since=, and narrows to ?path=", async () => {
    const served = await serveEvents();
    publish(served, "/docs/1", "/2", "/docs/3", "/docs");
    const { inbox } = await read(served, `/events?since=1&path=/docs/&feed=${served.files.changes.name}`);
    expect(pathsOf(await inbox.take(3))).toEqual(["/docs", "/docs/3", "/docs"]);
  });

  it.each(["another:1", "nonsense", ":", "1", "x:-1", "x:1:1", ""])(
    "says that there is a gap behind Last-Event-ID %j",
    async (id) => {
      const served = await serveEvents();
      publish(served, "/1", "/2");
      const { inbox } = await read(served, "/events", { "last-event-id": id });
      const [, gap] = await inbox.take(2);
      expect(gap).toEqual({ id: `${served.files.changes.name}:2`, event: "gap", data: '{"type":"gap"}' });
      publish(served, "/3");
      expect(pathsOf([await inbox.next()])).toEqual(["/3"]);
    },
  );

  it("answers HEAD like GET without content, and no other method", async () => {
    const { url } = await serveEvents();
    const head = await send(url, "HEAD", "/events");
    expect([head.status, head.headers["content-type"], head.text]).toEqual([200, "text/event-stream", ""]);
    for (const method of ["PUT", "POST", "DELETE", "OPTIONS"]) {
      const { status, headers } = await send(url, method, "/events");
      expect([method, status, headers["allow"]]).toEqual([method, 405, "GET, HEAD"]);
    }
  });

  it("works over HTTP/2 and in-process", async () => {
    const { files } = await serveEvents();
    const client = await openHttp2(files);
    const stream = client.request({ ":path": "/events" });
    expect(String((await once(stream, "data"))[0])).toContain("event: hello\n");
    publish({ files }, "/1");
    expect(String((await once(stream, "data"))[0])).toContain("event: change\n");

    const response = await files.fetch(new Request("http://127.0.0.1/events?since=0"));
    const inbox = new Inbox<ServerSentEvent>();
    const ended = readEvents(response, inbox);
    expect(pathsOf(await inbox.take(2))).toEqual(["hello", "/1"]);
    await files.close();
    await ended;
  });

  describe("what a reader may not read", () => {
    it("keeps a reader out of the path of the plugin", async () => {
      const rules = [{ username: "*", path: "/events", rights: ["list"], permission: "allow" }] as const;
      const { url } = await serveEvents({}, { plugins: [basicAuth({ users: [plain], rules }), eventStream()] });
      expect((await send(url, "GET", "/events")).status).toBe(401);
    });
  });

  describe("a reader that", () => {
    it("reads gets a sign of life now and then", async () => {
      const served = await serveEvents({ heartbeatInterval: 0.02 });
      const { inbox } = await read(served);
      const events = await inbox.take(4);
      expect(events.slice(1)).toEqual([{ "": "" }, { "": "" }, { "": "" }]);
    });

    it("leaves makes room for another", async () => {
      const served = await serveEvents({ maxClients: 1 });
      const first = await read(served);
      const { status, text, headers } = await send(served.url, "GET", "/events");
      expect([status, JSON.parse(text).code, headers["retry-after"]]).toEqual([503, "OVERLOADED", "1"]);
      first.leave();
      await first.ended;
      await expect.poll(async () => (await read(served)).response.status).toBe(200);
    });

    it.each([
      ["has more waiting than it may", {}, "more than 1048576 bytes wait for it"],
      ["takes nothing from one sign of life to the next", { heartbeatInterval: 0.05 }, "it does not read"],
    ])("%s is cut off, while others go on", async (_what, options, reason) => {
      const reported: string[] = [];
      const onError = (error: unknown): void => void reported.push(String(error));
      const served = await serveEvents({}, { plugins: [eventStream(options)], onError });
      const slow = await openSocket(served.port);
      slow.write(`GET /events HTTP/1.1\r\nHost: a\r\n\r\n`);
      await once(slow, "data");
      slow.pause();
      const quick = await read(served);
      await quick.inbox.next();
      const html = "x".repeat(100_000);
      let published = 0;
      // How much the system takes before anything has to wait is its own affair.
      while (reported.length === 0) {
        const change = { kind: "replaced", method: "PUT", host: "h", path: "/a", requestId: "r" } as const;
        served.files.changes.publish({ ...change, html } as NewChange, { site: "*" });
        published += 1;
        const isBeaten = "heartbeatInterval" in options;
        const events = [await quick.inbox.next()];
        while (!events.some(({ id }) => id) || (isBeaten && events.every(({ data }) => data))) {
          events.push(await quick.inbox.next());
        }
        expect(events.find(({ id }) => id)?.id).toBe(`${served.files.changes.name}:${published}`);
      }
      expect(reported).toEqual([`Error: a reader of the event stream was cut off: ${reason}`]);
    });
  });

  describe("a server that closes", () => {
    it("ends the streams behind what they have to tell, and does not wait for them", async () => {
      const served = await serveEvents();
      const { inbox, ended } = await read(served);
      await inbox.next();
      publish(served, "/1", "/2");
      await served.files.close();
      await ended;
      expect(pathsOf(inbox.all)).toEqual(["hello", "/1", "/2"]);
    });

    it("begins no stream, also for a reader that was being let in", async () => {
      const { plugin, entered, release } = gate({ passesOn: true });
      const served = await serveEvents({ path: "/slow" }, { plugins: [plugin, eventStream({ path: "/slow" })] });
      const answer = send(served.url, "GET", "/slow");
      await entered;
      const closing = served.files.close();
      await Promise.resolve();
      release();
      const { status, text } = await answer;
      expect([status, JSON.parse(text).code]).toEqual([503, "CLOSING"]);
      await closing;
    });
  });

  it("names each option that cannot work", () => {
    const problems: readonly (readonly [object, string])[] = [
      [{ path: "events" }, 'path is "events": expected a path as requests have it: decoded, and from the root'],
      [{ maxClients: 0 }, "maxClients is 0: expected a positive integer"],
      [{ heartbeatInterval: 0 }, "heartbeatInterval is 0: expected a positive number of seconds"],
      [{ retry: 1 }, 'the argument has no option "retry"'],
    ];
    for (const [options, problem] of problems) expect(() => eventStream(options)).toThrow(`eventStream: ${problem}`);
    expect(() => eventStream(Object.freeze({}))).not.toThrow();
  });
});
