import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { bodyBytes, bodyText, completeReply, type Reply, type ReplyBody, variesBy } from "../../src/server/reply.ts";

const complete = (reply: Partial<Reply>, method = "GET"): Reply =>
  completeReply({ id: "request-1", method }, { status: 200, headers: {}, ...reply });

describe("a completed reply", () => {
  it("has what every reply has, whatever a plugin thinks of it", () => {
    const { headers } = complete({
      headers: { "x-request-id": "mine", "x-content-type-options": "none", etag: '"1"' },
    });
    expect(headers).toMatchObject({ "x-request-id": "request-1", "x-content-type-options": "nosniff", etag: '"1"' });
  });

  it("leaves the reply that it was made from as it is", () => {
    const reply: Reply = Object.freeze({ status: 200, headers: Object.freeze({ ETag: '"1"' }), body: "a" });
    completeReply({ id: "1", method: "GET" }, reply);
    expect(reply).toEqual({ status: 200, headers: { ETag: '"1"' }, body: "a" });
  });

  it("has its field names in lower case, so that none stands there twice", () => {
    expect(complete({ headers: { "Content-Length": "7", ETag: '"1"' }, body: "a" }).headers).toMatchObject({
      "content-length": "1",
      etag: '"1"',
    });
  });

  it.each<[string, Partial<Reply>, string, string | undefined]>([
    ["text", { body: "naïve" }, "GET", "6"],
    ["bytes", { body: new Uint8Array(3) }, "GET", "3"],
    ["nothing", {}, "GET", "0"],
    ["a stream", { body: Readable.from([]) }, "GET", undefined],
    ["a stream of announced length", { body: Readable.from([]), headers: { "content-length": "9" } }, "GET", "9"],
    ["text that a plugin has changed", { body: "longer", headers: { "content-length": "1" } }, "GET", "6"],
    ["text that a plugin has taken away", { headers: { "content-length": "1" } }, "GET", "0"],
    ["text that HEAD leaves out", { body: "text" }, "HEAD", "4"],
    ["what HEAD did not even make", { headers: { "content-length": "9" } }, "HEAD", "9"],
    ["HEAD of unknown length", {}, "HEAD", undefined],
    ["204", { status: 204, headers: { "content-length": "9" } }, "GET", undefined],
    ["304 without a length", { status: 304 }, "GET", undefined],
    ["304 with the length of the 200", { status: 304, headers: { "content-length": "9" } }, "GET", "9"],
  ])("announces the length of %s", (_what, reply, method, length) => {
    expect(complete(reply, method).headers["content-length"]).toBe(length);
  });

  it.each<[string, Partial<Reply>, string]>([
    ["to HEAD", {}, "HEAD"],
    ["with 204", { status: 204 }, "GET"],
    ["with 304", { status: 304 }, "GET"],
  ])("has no content %s, and releases what there was", (_when, reply, method) => {
    const body = Readable.from(["a"]);
    expect(complete({ ...reply, body }, method)).not.toHaveProperty("body");
    expect(body.destroyed).toBe(true);
  });

  it("does not say how it is framed", () => {
    const { headers } = complete({ headers: { "Transfer-Encoding": "chunked" }, body: "a" });
    expect(headers).not.toHaveProperty("transfer-encoding");
  });
});

describe("variesBy", () => {
  it.each([
    [undefined, "origin"],
    ["range", "range, origin"],
    ["Accept, Origin", "Accept, Origin"],
    ["*", "*"],
    ["x-origin", "x-origin, origin"],
  ])("names a field to caches once: %s", (vary, expected) => {
    const reply = { status: 200, headers: { ...(vary !== undefined && { vary }) } };
    expect(variesBy(reply, "origin").headers).toEqual({ vary: expected });
  });
});

describe("the content of a reply", () => {
  it.each<[string, ReplyBody | undefined, string]>([
    ["none", undefined, ""],
    ["text", "grüße", "grüße"],
    ["bytes", Buffer.from("bytes"), "bytes"],
    ["a stream", Readable.from(["a", Buffer.from("b")]), "ab"],
  ])("can be read as a whole: %s", async (_what, body, expected) => {
    const reply: Reply = { status: 200, headers: {}, ...(body !== undefined && { body }) };
    expect(await bodyText(reply)).toBe(expected);
  });

  it("can be read as bytes", async () => {
    const bytes = await bodyBytes({ status: 200, headers: {}, body: "é" });
    expect([...bytes]).toEqual([0xc3, 0xa9]);
  });
});
