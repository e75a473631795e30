import { AsyncResource } from "node:async_hooks";
import { buffer } from "node:stream/consumers";
import * as sdk from "@aws-sdk/client-s3";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createFileServer } from "../../../src/file-server.ts";
import { s3Storage } from "../../../src/storage/s3/s3-storage.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { type FaultyProxy, faultyProxy } from "../../helpers/faulty-proxy.ts";
import { storeRequests } from "../../helpers/store-requests.ts";
import { testBucket } from "../../helpers/test-bucket.ts";
import { content, namesAt, textAt, withBytes } from "../content.ts";

const busy = expect.objectContaining({ name: "StorageError", code: "unavailable" });

/** A storage that reaches its store by way of a proxy, and a second one that goes straight there. */
async function onFaultyWay(files: Readonly<Record<string, string>> = {}) {
  const { options, client, keys, unfinished } = await testBucket(files);
  const way: FaultyProxy = await faultyProxy(options.endpoint);
  const storage: Storage = s3Storage({ ...options, endpoint: way.url });
  await storage.start?.();
  const requests = storeRequests();
  return { storage, other: s3Storage(options), way, requests, options, client, keys, unfinished };
}

const increment = (bytes: Uint8Array): Uint8Array => Buffer.from(String(Number(Buffer.from(bytes).toString()) + 1));

/** Has the client ask again at once, for the test that is running. */
function withoutPauses(): void {
  const random = vi.spyOn(Math, "random").mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
}

describe("an S3 storage whose store fails", { tags: ["versitygw"] }, () => {
  it("sends a request again that did not arrive, or whose answer did not", async () => {
    const { storage, way, requests } = await onFaultyWay({ "/a.txt": "hello" });
    way.fail({ cutRequest: /^HEAD / });
    expect(await storage.stat("/a.txt")).toMatchObject({ size: 5 });
    way.fail({ cutAnswer: /^HEAD / });
    expect(await storage.stat("/a.txt")).toMatchObject({ size: 5 });
    expect([way.failures, requests.map(({ retries }) => retries)]).toEqual([2, [1, 1]]);
  });

  it("adds nothing to what each promise and timer of the process carries", async () => {
    const { options } = await testBucket({ "/a.txt": "hello" });
    const carried = (): number => Object.getOwnPropertySymbols(new AsyncResource("any")).length;
    const before = carried();
    expect(await s3Storage(options).stat("/a.txt")).toMatchObject({ size: 5 });
    expect(carried()).toBe(before);
  });

  it("makes a change once whose answer was lost", async () => {
    const { storage, way } = await onFaultyWay({ "/count.txt": "0", "/log.txt": "a" });
    way.fail({ cutAnswer: /^PUT / });
    await storage.update("/count.txt", withBytes(increment));
    way.fail({ cutAnswer: /^PUT / });
    await storage.append("/log.txt", content("b"));
    way.fail({ cutAnswer: /^PUT / });
    expect(await storage.write("/new.txt", content("new"), { exclusive: true })).toMatchObject({ created: true });
    way.fail({ cutAnswer: /^DELETE / });
    await storage.remove("/new.txt");
    expect(way.failures).toBe(4);
    expect([await textAt(storage, "/count.txt"), await textAt(storage, "/log.txt")]).toEqual(["1", "ab"]);
    expect(await storage.stat("/new.txt")).toBeUndefined();
  });

  it("makes it once also where others have changed the file before it was asked again", async () => {
    const { storage, other, way } = await onFaultyWay({ "/log.txt": "a" });
    // It is told so when others have followed the first request, whose answer was lost like those to the next two.
    way.fail({ cutAnswer: /^PUT /, times: 3 });
    const appended = storage.append("/log.txt", content("b"));
    await expect.poll(() => textAt(other, "/log.txt")).toBe("ab");
    await Promise.all([appended, ...["c", "d", "e"].map((text) => other.append("/log.txt", content(text)))]);
    // What it does next is on top of what is there, not of what it wrote itself.
    await storage.append("/log.txt", content("f"));
    const stored = (await textAt(other, "/log.txt")) ?? "";
    expect([...stored].sort().join("")).toBe("abcdef");
  });

  it("does not take what others have made of its page since for its own", async () => {
    const { storage, other, way } = await onFaultyWay({ "/list.html": "<ul></ul>" });
    const [one, two] = [storage, other].map((each) => createFileServer({ storage: each }));
    await Promise.all([one?.ready(), two?.ready()]);
    const add = async (files: typeof one, name: string): Promise<unknown> =>
      files?.fetch(
        new Request("http://localhost/list.html", {
          method: "POST",
          body: `<li>${name}</li>`,
          headers: { range: "selector=ul" },
        }),
      );
    way.fail({ cutAnswer: /^PUT /, times: 3 });
    const added = add(one, "a");
    await expect.poll(() => textAt(other, "/list.html")).toContain("<li>a");
    await add(two, "b");
    await added;
    await add(one, "c");
    expect(await textAt(other, "/list.html")).toBe("<ul><li>a</li><li>b</li><li>c</li></ul>");
    await Promise.all([one?.close(), two?.close()]);
  });

  /** The answers to a change and to what is asked after it are lost, as in an outage: each is sent four times. */
  const outage = (requests: number) => {
    let hasBegun = false;
    const test = (request: string): boolean => {
      hasBegun ||= /^(?:PUT|DELETE) /.test(request);
      return hasBegun && /^(?:PUT|DELETE|HEAD|GET) /.test(request);
    };
    return { cutAnswer: { test }, times: 4 * requests };
  };
  const unavailable =
    "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 46\r\nconnection: close\r\n\r\n<Error><Code>ServiceUnavailable</Code></Error>";

  it.each([
    ["the look after it fails, too", () => outage(2)],
    ["several looks fail", () => outage(4)],
    ["the store says 503 of what it has made", () => ({ replaceAnswer: { request: /^PUT /, answer: unavailable } })],
    ["it says so each time", () => ({ replaceAnswer: { request: /^PUT /, answer: unavailable }, times: 4 })],
  ])("makes a change once where %s", async (_what, faults) => {
    const { storage, other, way } = await onFaultyWay({ "/log.txt": "a", "/list.html": "<ul></ul>" });
    withoutPauses();
    const files = createFileServer({ storage });
    onTestFinished(() => files.close());
    const changes: string[] = [];
    files.changes.subscribe(({ kind, etag }) => changes.push(`${kind} ${etag}`));
    const ask = async (method: string, path: string, body: string, headers = {}): Promise<Response> =>
      files.fetch(new Request(`http://localhost${path}`, { method, body, headers }));
    for (const path of ["/log.txt", "/list.html"]) await files.fetch(path); // seen a moment ago
    way.fail(faults());
    const appended = await ask("POST", "/log.txt", "b");
    way.fail(faults());
    const edited = await ask("POST", "/list.html", "<li>n", { range: "selector=ul" });
    way.fail(faults());
    const created = await ask("PUT", "/new.txt", "new", { "if-none-match": "*" });
    expect([appended.status, edited.status, created.status]).toEqual([200, 206, 201]);
    expect([await textAt(other, "/log.txt"), await textAt(other, "/list.html")]).toEqual(["ab", "<ul><li>n</li></ul>"]);
    const tags = await Promise.all(
      ["/log.txt", "/list.html", "/new.txt"].map(async (path) => `"${(await other.stat(path))?.version}"`),
    );
    expect(changes).toEqual([`appended ${tags[0]}`, `elements-appended ${tags[1]}`, `created ${tags[2]}`]);
    expect(way.failures).toBeGreaterThan(2);
  });

  it("says of a change of which it cannot know whether it was made", async () => {
    const { storage, other, way, client, options } = await onFaultyWay({ "/log.txt": "a" });
    const Key = `${options.prefix}/log.txt`;
    const putForeign = (Body: string): Promise<unknown> =>
      client.send(new sdk.PutObjectCommand({ Bucket: options.bucket, Key, Body }));
    withoutPauses();
    const files = createFileServer({ storage, onError() {} });
    onTestFinished(() => files.close());
    await files.ready();
    way.fail(outage(100));
    const reply = await files.fetch(new Request("http://localhost/log.txt", { method: "POST", body: "b" }));
    way.fail({});
    expect([reply.status, await reply.text()]).toEqual([503, expect.stringContaining("did not say whether")]);
    expect(await textAt(other, "/log.txt")).toBe("ab");
    // What has come of it is not known either where another program has written since.
    await storage.stat("/log.txt");
    way.fail(outage(1));
    way.hold(/^PUT /);
    const writing = storage.write("/log.txt", content("c"));
    await expect.poll(() => textAt(other, "/log.txt")).toBe("c");
    await putForeign("x");
    way.release();
    await expect(writing).rejects.toMatchObject({ code: "outcome-unknown" });
    expect(await textAt(other, "/log.txt")).toBe("x");
  });

  it("does not answer that a file was not there which it has removed", async () => {
    const { storage, other, way, keys } = await onFaultyWay({ "/a.txt": "a", "/dir/": "" });
    withoutPauses();
    for (const path of ["/a.txt", "/dir"]) {
      await storage.stat(path);
      way.fail({ cutAnswer: /^(?:DELETE|HEAD) /, times: 8 });
      await storage.remove(path);
      way.fail({});
      expect(await other.stat(path)).toBeUndefined();
    }
    expect(await keys()).toEqual([]);
  });

  it("reads on where an answer broke off", async () => {
    const large = "0123456789".repeat(100_000);
    const { storage, way } = await onFaultyWay({ "/small.txt": "0123456789".repeat(1000), "/large.txt": large });
    way.fail({ cutAfter: { request: /^GET .*small/, bytes: 5_000 }, times: 2 });
    expect(await textAt(storage, "/small.txt")).toBe("0123456789".repeat(1000));
    way.fail({ cutAfter: { request: /^GET .*large/, bytes: 400_000 }, times: 2 });
    const file = await storage.open("/large.txt");
    expect(file && (await buffer(file.stream())).toString() === large).toBe(true);
    await file?.close();
    expect(way.failures).toBe(4);
  });

  it("gives the connection back of content that nobody reads", async () => {
    const { storage, way } = await onFaultyWay({ "/large.txt": "0123456789".repeat(300_000) });
    const unread = await storage.open("/large.txt");
    expect(way.connections).toBe(1);
    await unread?.close();
    const left = await storage.open("/large.txt");
    left?.stream().destroy();
    await left?.close();
    await expect.poll(() => way.connections).toBe(0);
  });

  it("fails where an answer breaks off again and again, and gives nothing in its place", async () => {
    const large = "0123456789".repeat(100_000);
    const { storage, way } = await onFaultyWay({ "/large.txt": large });
    way.fail({ cutAfter: { request: /^GET .*large/, bytes: 20_000 }, times: 100 });
    const file = await storage.open("/large.txt");
    await expect(file?.bytes()).rejects.toEqual(busy);
    await file?.close();
  });

  it("does not go on with another version than it began with", async () => {
    const large = "0123456789".repeat(100_000);
    const { storage, other, way } = await onFaultyWay({ "/large.txt": large });
    way.fail({ cutAfter: { request: /^GET .*large/, bytes: 400_000 } });
    const file = await storage.open("/large.txt");
    await other.write("/large.txt", content("9876543210".repeat(100_000)));
    await expect(file?.bytes()).rejects.toMatchObject({ name: "StorageError", code: "busy" });
    await file?.close();
  });

  it("says that the store is away: an error at the start, and 503 with Retry-After for requests", async () => {
    const { storage, way, options } = await onFaultyWay({ "/a.txt": "hello" });
    withoutPauses();
    const reported: unknown[] = [];
    const files = createFileServer({ storage, onError: (error) => reported.push(error) });
    expect((await files.fetch("/a.txt")).status).toBe(200);
    await way.stop();
    for (const [method, path] of [
      ["GET", "/a.txt"],
      ["PUT", "/b.txt"],
      ["DELETE", "/a.txt"],
    ] as const) {
      const body = method === "PUT" ? "content" : undefined;
      const { status, headers } = await files.fetch(
        new Request(`http://localhost${path}`, { method, ...(body && { body }) }),
      );
      expect([method, status, headers.get("retry-after")]).toEqual([method, 503, "1"]);
    }
    expect(reported).toEqual(Array(3).fill(busy));
    const late = createFileServer({ storage: s3Storage({ ...options, endpoint: way.url }) });
    await expect(late.ready()).rejects.toThrow(/^the bucket "site" cannot be used: .*ECONNREFUSED/);
    await Promise.all([files.close(), late.close()]);
  });

  it.each([
    [{ bucket: "not-there" }, /NoSuchBucket/],
    [{ credentials: { accessKeyId: "filement", secretAccessKey: "wrong" } }, /SignatureDoesNotMatch/],
    [{ credentials: { accessKeyId: "nobody", secretAccessKey: "wrong" } }, /access key/],
  ])("does not start with %j", async (wrong, reason) => {
    const { options } = await testBucket();
    await expect(s3Storage({ ...options, ...wrong }).start?.()).rejects.toThrow(reason);
  });

  it("checks after a write that failed with one that is never made, and leaves nothing", async () => {
    const { storage, way, requests, keys } = await onFaultyWay();
    withoutPauses();
    way.fail({ cutRequest: /^PUT /, times: 4 });
    await expect(storage.write("/a.txt", content("a"))).rejects.toMatchObject({ code: "outcome-unknown" });
    requests.length = 0;
    await storage.check?.();
    expect([requests.map(({ name }) => name), await keys()]).toEqual([["put"], []]);
  });

  it("sends each request again, however many have failed before", async () => {
    const { storage, way } = await onFaultyWay({ "/a.txt": "hello" });
    withoutPauses();
    for (let blips = 0; blips < 150; blips += 1) {
      way.fail({ cutAnswer: /^HEAD /, times: 3 });
      expect(await storage.stat("/a.txt")).toMatchObject({ size: 5 });
    }
  });

  it("gives a silent store up within its time, all tries and looks of a change together", async () => {
    const { way, options, requests } = await onFaultyWay({ "/a.txt": "hello" });
    const storage = s3Storage({ ...options, endpoint: way.url, timeout: 1 });
    onTestFinished(() => storage.close?.());
    await storage.start?.();
    await storage.stat("/a.txt");
    requests.length = 0;
    way.hold(/^(?:PUT|HEAD) /);
    await expect(storage.write("/a.txt", content("b"))).rejects.toMatchObject({ code: "outcome-unknown" });
    const asked = requests.map(({ name }) => name);
    expect(asked.slice(0, 2)).toEqual(["put", "head"]); // the looks have what the write has left of the time
  });

  it("does not give the last of a content that its checksum says is wrong", async () => {
    const large = "0123456789".repeat(100_000);
    const { storage, way } = await onFaultyWay({ "/large.txt": large });
    way.corrupt(/^GET .*large/, 500_000);
    const file = await storage.open("/large.txt");
    let received = 0;
    const read = async (): Promise<void> => {
      for await (const piece of file?.stream() ?? []) received += (piece as Uint8Array).byteLength;
    };
    await expect(read()).rejects.toEqual(busy);
    expect(received).toBeLessThan(large.length);
    await file?.close();
  });

  it.each([
    [{ method: "PUT", path: "/new.txt", body: "new" }, "/new.txt", "new", 201],
    [{ method: "POST", path: "/log.txt", body: "b" }, "/log.txt", "ab", 200],
    [
      { method: "PUT", path: "/page.html", body: "<p>new", headers: { range: "selector=p" } },
      "/page.html",
      "<p>new</p>",
      206,
    ],
  ])("answers nothing before a slow store has: %j", async ({ path, ...request }, changed, text, status) => {
    const { storage, other, way } = await onFaultyWay({ "/log.txt": "a", "/page.html": "<p>old</p>" });
    const files = createFileServer({ storage });
    onTestFinished(() => files.close());
    await files.ready();
    way.hold(/^PUT /);
    let isAnswered = false;
    const answer = files.fetch(new Request(`http://localhost${path}`, request)).finally(() => {
      isAnswered = true;
    });
    await expect.poll(() => textAt(other, changed)).toBe(text);
    expect([isAnswered, way.held]).toEqual([false, 1]);
    way.release();
    expect((await answer).status).toBe(status);
  });

  /** A client that waits for some requests no longer than a test can, and for all others long. */
  function impatient(
    { endpoint, credentials }: Awaited<ReturnType<typeof onFaultyWay>>["options"],
    isHeld: (request: { method: string; query: object }) => boolean,
  ) {
    const account = credentials as { accessKeyId: string; secretAccessKey: string };
    const settings = { region: "us-east-1", forcePathStyle: true, maxAttempts: 4 };
    const patience = { requestTimeout: 60_000, throwOnRequestTimeout: true };
    const client = new sdk.S3Client({ endpoint, credentials: account, ...settings, requestHandler: patience });
    onTestFinished(() => client.destroy());
    const { requestHandler } = client.config;
    const handle = requestHandler.handle.bind(requestHandler);
    vi.spyOn(requestHandler, "handle").mockImplementation((request, options) =>
      handle(request, isHeld(request) ? { ...options, requestTimeout: 20 } : options),
    );
    return client;
  }

  it("gives a store that is too slow four times up: 503 with Retry-After, nothing half done, and well again when it is", async () => {
    const { other, way, options, unfinished, requests } = await onFaultyWay({
      "/a.txt": "hello",
      "/page.html": "<p>old</p>",
    });
    withoutPauses();
    let holds: (request: { method: string; query: object }) => boolean = () => false;
    const client = impatient({ ...options, endpoint: way.url }, (request) => holds(request));
    const { bucket, prefix } = options;
    const storage = s3Storage({ client, bucket, prefix });
    const reported: unknown[] = [];
    const files = createFileServer({ storage, onError: (error) => reported.push(error) });
    onTestFinished(() => files.close());
    await files.ready();
    const ask = async (method: string, path: string, body?: string): Promise<unknown[]> => {
      const reply = await files.fetch(new Request(`http://localhost${path}`, { method, ...(body && { body }) }));
      return [reply.status, reply.headers.get("retry-after")];
    };
    requests.length = 0;
    way.hold(/^(?:GET|HEAD) /);
    holds = ({ method }) => method === "GET" || method === "HEAD";
    expect(await ask("GET", "/a.txt")).toEqual([503, "1"]);
    expect(requests.map(({ retries }) => retries)).toEqual([3]);
    expect(await ask("PUT", "/new.txt", "new")).toEqual([503, "1"]);
    way.release();
    way.hold(/partNumber=/);
    holds = ({ query }) => "partNumber" in query;
    expect(await ask("PUT", "/large.bin", "x".repeat(9 * 1024 * 1024))).toEqual([503, "1"]);
    way.release();
    holds = () => false;
    await expect.poll(unfinished).toBe(0);
    expect(await namesAt(other, "/")).toEqual(["a.txt", "page.html"]);
    expect(reported).toEqual(Array(3).fill(busy));
    await expect.poll(() => ask("GET", "/a.txt")).toEqual([200, null]);
  });

  it("asks a store again that wants fewer requests, and gives it up in the end", async () => {
    const { storage, way } = await onFaultyWay({ "/a.txt": "hello" });
    const answer =
      "HTTP/1.1 503 Slow Down\r\ncontent-length: 42\r\nconnection: close\r\n\r\n<Error><Code>SlowDown</Code></Error>      ";
    withoutPauses();
    way.fail({ refuse: { request: /^PUT /, answer }, times: 2 });
    await storage.write("/b.txt", content("b"));
    way.fail({ refuse: { request: /^PUT /, answer }, times: 100 });
    await expect(storage.write("/c.txt", content("c"))).rejects.toMatchObject({ name: "StorageError", code: "busy" });
    expect(way.failures).toBe(2 + 4);
    expect(await namesAt(storage, "/")).toEqual(["a.txt", "b.txt"]);
  });
});
