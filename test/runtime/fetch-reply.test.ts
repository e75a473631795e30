import { once } from "node:events";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { fetchReply } from "../../src/runtime/fetch-reply.ts";
import type { Reply } from "../../src/server/reply.ts";

const never = new AbortController().signal;
const give = (reply: Partial<Reply>, signal: AbortSignal = never) =>
  fetchReply({ status: 200, headers: {}, ...reply }, signal);

/** A stream of pieces, one for each read, and how many of them were asked for. */
function pieces(...all: readonly string[]) {
  const asked = { count: 0 };
  const left = [...all];
  const stream = new Readable({
    highWaterMark: 1,
    read() {
      asked.count += 1;
      this.push(left.shift() ?? null);
    },
  });
  return { asked, stream };
}

/** A stream that gives one piece and then neither more nor an end. */
function endless(): Readable {
  const stream = new Readable({ read() {} });
  stream.push("first");
  return stream;
}

/** A reply of which one piece was read. */
async function begun(signal?: AbortSignal) {
  const stream = endless();
  const { response, sent } = give({ body: stream }, signal);
  const reader = response.body?.getReader();
  await reader?.read();
  return { stream, sent, reader };
}

describe("a reply as a Response", () => {
  it("has status, header fields and content", async () => {
    const { response, sent } = give({ status: 201, headers: { "content-type": "text/x", etag: '"1"' }, body: "é" });
    expect(response.status).toBe(201);
    expect(response.headers.get("content-type")).toBe("text/x");
    expect(response.headers.get("etag")).toBe('"1"');
    expect(await response.text()).toBe("é");
    expect(await sent).toEqual({ bytes: 2, aborted: false });
  });

  it("is dated, with the plugin's own date where it gave one", () => {
    expect(Date.parse(give({}).response.headers.get("date") ?? "")).not.toBeNaN();
    const date = "Thu, 01 Jan 1970 00:00:00 GMT";
    expect(give({ headers: { date } }).response.headers.get("date")).toBe(date);
  });

  it.each([[204], [304]])("has no content with status %i", async (status) => {
    const { response, sent } = give({ status });
    expect(response.body).toBeNull();
    expect(await sent).toEqual({ bytes: 0, aborted: false });
  });

  it("says of text no more than the reply does", () => {
    expect(give({ body: "text" }).response.headers.has("content-type")).toBe(false);
  });
});

describe("a streamed Response", () => {
  it("gives all of the content and tells how much that was", async () => {
    const { stream } = pieces("ab", "cd", "é");
    const { response, sent } = give({ body: stream });
    expect(await response.text()).toBe("abcdé");
    expect(await sent).toEqual({ bytes: 6, aborted: false });
  });

  it("reads no faster than its reader", async () => {
    const { asked, stream } = pieces(..."abcdefghijklmnopqrstuvwxyz");
    const { response } = give({ body: stream });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.read();
    expect(asked.count).toBeLessThan(8);
    await reader?.cancel();
  });

  it("fails with the content, and hands the failure on for the log", async () => {
    const failure = new Error("disk on fire");
    const stream = new Readable({
      read() {
        this.destroy(failure);
      },
    });
    const { response, sent } = give({ body: stream });
    await expect(response.text()).rejects.toThrow("disk on fire");
    expect(await sent).toEqual({ bytes: 0, aborted: true, failure });
  });

  it("lets go of the content when its reader cancels", async () => {
    const { stream, sent, reader } = await begun();
    await reader?.cancel();
    expect(await sent).toEqual({ bytes: 5, aborted: true });
    expect(stream.destroyed).toBe(true);
  });

  it("lets go of the content when the request is aborted, read or not", async () => {
    const controller = new AbortController();
    const { sent, reader } = await begun(controller.signal);
    const next = reader?.read();
    controller.abort();
    await expect(next).rejects.toThrow();
    expect(await sent).toEqual({ bytes: 5, aborted: true });

    const unread = endless();
    const given = give({ body: unread }, AbortSignal.abort());
    expect(await given.sent).toEqual({ bytes: 0, aborted: true });
    expect(unread.destroyed).toBe(true);
  });

  it("leaves nothing on the signal of a request that goes on", async () => {
    let listeners = 0;
    const counted = {
      aborted: false,
      addEventListener: () => void listeners++,
      removeEventListener: () => void listeners--,
    } as unknown as AbortSignal;
    const { response, sent } = give({ body: pieces("a").stream }, counted);
    expect(listeners).toBe(1);
    await response.text();
    await sent;
    expect(listeners).toBe(0);
  });

  it("is given up by abandon() where nobody has begun to read it", async () => {
    const stream = endless();
    const { sent, abandon } = give({ body: stream });
    abandon();
    expect(await sent).toEqual({ bytes: 0, aborted: true });
    expect(stream.destroyed).toBe(true);
  });

  it("is not given up by abandon() where somebody reads it", async () => {
    const { stream } = pieces("ab", "cd", "ef");
    const { response, sent, abandon } = give({ body: stream });
    const reader = response.body?.getReader();
    await reader?.read();
    abandon();
    const more: string[] = [];
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      more.push(Buffer.from(read.value).toString());
    }
    expect(more.join("")).toBe("cdef");
    expect(await sent).toEqual({ bytes: 6, aborted: false });
  });

  it("ends as aborted where the stream was destroyed under it", async () => {
    const { stream, sent, reader } = await begun();
    stream.destroy();
    await once(stream, "close");
    expect(await sent).toMatchObject({ bytes: 5, aborted: true });
    await expect(reader?.read()).rejects.toThrow();
  });
});
