import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { fetchIncoming } from "../../src/runtime/fetch-request.ts";
import type { IncomingRequest } from "../../src/server/incoming-request.ts";
import { deferred } from "../helpers/deferred.ts";

function put(body: BodyInit | ReadableStream, init: RequestInit = {}): Request {
  return new Request("http://example.com/a", { method: "PUT", body, duplex: "half", ...init } as RequestInit);
}

async function textOf(incoming: IncomingRequest): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of incoming.content()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const incomplete = expect.objectContaining({ status: 400, code: "INCOMPLETE_BODY" });
const consumed = expect.objectContaining({ status: 500, code: "BODY_CONSUMED" });

describe("a Request of the Fetch standard", () => {
  it("shows what it asks for", () => {
    const request = new Request("https://Example.com:8443/a%20b/?x=1#part", { headers: { "X-Mine": "é" } });
    expect(fetchIncoming(request, { address: "192.0.2.1" })).toMatchObject({
      method: "GET",
      url: "/a%20b/?x=1",
      target: "/a%20b/?x=1",
      mount: "",
      headers: { host: "example.com:8443", "x-mine": "é" },
      peer: "192.0.2.1",
      encrypted: true,
      httpVersion: "1.1",
      isUpgrade: false,
    });
  });

  it("is for the host of its Host field where a program has set one", () => {
    const request = new Request("http://localhost/", { headers: { host: "a.example" } });
    expect(fetchIncoming(request).headers.host).toBe("a.example");
  });

  it("counts fields as the standard joins them", () => {
    const headers = new Headers([
      ["range", "bytes=0-1"],
      ["range", "bytes=2-3"],
    ]);
    const incoming = fetchIncoming(new Request("http://x/", { headers }));
    expect([incoming.count("range"), incoming.count("if-match")]).toEqual([1, 0]);
    expect(incoming.headers.range).toBe("bytes=0-1, bytes=2-3");
  });

  it("gives its content piece by piece", async () => {
    const body = new ReadableStream({
      start(controller) {
        for (const piece of ["ab", "cd"]) controller.enqueue(Buffer.from(piece));
        controller.close();
      },
    });
    expect(await textOf(fetchIncoming(put(body)))).toBe("abcd");
    expect(await textOf(fetchIncoming(put("text")))).toBe("text");
  });

  it("fails with 500 where its content was read before", async () => {
    const request = put("text");
    await request.text();
    await expect(textOf(fetchIncoming(request))).rejects.toEqual(consumed);
  });

  it("fails with 400 where its content fails half-way", async () => {
    const broken = new Error("broken");
    let isFirst = true;
    const body = new ReadableStream({
      pull(controller) {
        if (isFirst) controller.enqueue(Buffer.from("half"));
        else controller.error(broken);
        isFirst = false;
      },
    });
    await expect(textOf(fetchIncoming(put(body)))).rejects.toEqual(incomplete);
  });

  it("cancels content that nobody wants to the end", async () => {
    const { promise: isCancelled, resolve: cancelled } = deferred();
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(Buffer.from("more")),
      cancel: cancelled,
    });
    for await (const piece of fetchIncoming(put(body)).content()) {
      expect(Buffer.from(piece).toString()).toBe("more");
      break;
    }
    await isCancelled;
  });

  it("fails with 400 where it is aborted while its content is read", async () => {
    const controller = new AbortController();
    const body = new ReadableStream({ start: (content) => content.enqueue(Buffer.from("half")) });
    const incoming = fetchIncoming(put(body, { signal: controller.signal }));
    const pieces: string[] = [];
    const reading = (async () => {
      for await (const piece of incoming.content()) {
        pieces.push(Buffer.from(piece).toString());
        controller.abort();
      }
    })();
    await expect(reading).rejects.toEqual(incomplete);
    expect(pieces).toEqual(["half"]);
  });

  it("gives the signal that its maker aborts", async () => {
    const controller = new AbortController();
    const signal = fetchIncoming(put("x", { signal: controller.signal })).signal();
    expect(signal.aborted).toBe(false);
    const aborted = once(signal, "abort");
    controller.abort();
    await aborted;
    expect(signal.aborted).toBe(true);
  });
});
