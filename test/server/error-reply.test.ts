import { describe, expect, it } from "vitest";
import { HttpError } from "../../src/http/http-error.ts";
import { errorReply, toHttpError } from "../../src/server/error-reply.ts";
import type { Exchange } from "../../src/server/exchange.ts";
import { StorageError, type StorageErrorCode } from "../../src/storage/storage.ts";

const storageErrors: Record<StorageErrorCode, readonly [status: number, code: string]> = {
  "not-found": [404, "NOT_FOUND"],
  exists: [409, "FILE_EXISTS"],
  "is-directory": [405, "IS_DIRECTORY"],
  "not-a-directory": [409, "NOT_A_DIRECTORY"],
  "no-parent": [409, "NO_PARENT"],
  "not-empty": [409, "DIRECTORY_NOT_EMPTY"],
  forbidden: [403, "FORBIDDEN_PATH"],
  "invalid-name": [400, "INVALID_PATH"],
  "name-too-long": [400, "INVALID_PATH"],
  "too-deep": [400, "INVALID_PATH"],
  encoded: [415, "UNSUPPORTED_ENCODING"],
  full: [507, "INSUFFICIENT_STORAGE"],
  "read-only": [507, "INSUFFICIENT_STORAGE"],
  unavailable: [503, "STORAGE_UNAVAILABLE"],
  "outcome-unknown": [503, "STORAGE_UNAVAILABLE"],
  busy: [503, "OVERLOADED"],
  conflict: [409, "WRITE_CONFLICT"],
};

const busy = new HttpError(503, "OVERLOADED", "Try again.", { headers: { "retry-after": "1" } });
const gone = new HttpError(404, "NOT_FOUND", 'There is no <b>file</b> & no "directory".');

/** The reply to a client with that `Accept`, and what was reported of it. */
function replyTo(thrown: unknown, accept?: string, more: Partial<Exchange> = {}) {
  const reported: unknown[] = [];
  const exchange = {
    id: "request-1",
    headers: accept === undefined ? {} : { accept },
    site: { report: (...args: unknown[]) => reported.push(args) },
    path: "/",
    mount: "",
    ...more,
  } as unknown as Exchange;
  return { reply: errorReply(exchange, thrown), reported, exchange };
}

describe("an error reply", () => {
  it.each([
    [undefined, "application/json"],
    ["*/*", "application/json"],
    ["application/json", "application/json"],
    ["image/png", "application/json"],
    ["text/html;q=0.5, application/json", "application/json"],
    ["text/html", "text/html; charset=utf-8"],
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html; charset=utf-8"],
    [";;;,,,", "application/json"],
  ])("is, for Accept %s, %s", (accept, type) => {
    expect(replyTo(gone, accept).reply.headers["content-type"]).toBe(type);
  });

  it("is, as a page, a document of the same text that can run and load nothing", () => {
    const { reply } = replyTo(gone, "text/html");
    const page = String(reply.body);
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toContain("<title>404 Not Found</title>");
    expect(page).toContain("NOT_FOUND");
    expect(page).toContain("<p>There is no &lt;b&gt;file&lt;/b&gt; &amp; no &quot;directory&quot;.</p>");
    expect(page).not.toContain("<b>");
    expect(reply.headers["content-security-policy"]).toMatch(/^default-src 'none'/);
  });

  it("says, as a page about rights, who is signed in", () => {
    const refused = new HttpError(403, "FORBIDDEN", "No.");
    const user = { name: "<Ada>", roles: [] };
    expect(String(replyTo(refused, "text/html", { user }).reply.body)).toContain("signed in as &lt;Ada&gt;.");
    expect(String(replyTo(refused, "text/html").reply.body)).toContain("You are not signed in.");
    expect(String(replyTo(gone, "text/html", { user }).reply.body)).not.toContain("Ada");
  });

  it("lets no cache guess how long it holds, and tells it that Accept makes a difference", () => {
    for (const accept of [undefined, "text/html"]) {
      expect(replyTo(gone, accept).reply.headers).toMatchObject({ "cache-control": "no-cache", vary: "accept" });
    }
  });

  it("has the header fields of the error, which win", () => {
    const error = new HttpError(416, "RANGE_NOT_SATISFIABLE", "No.", {
      headers: { "content-range": "bytes */3", "cache-control": "no-store" },
    });
    const { headers } = replyTo(error).reply;
    expect(headers).toMatchObject({ "content-range": "bytes */3", "cache-control": "no-store", vary: "accept" });
    expect(error.headers).toEqual({ "content-range": "bytes */3", "cache-control": "no-store" });
  });

  it("reports an HttpError that has no cause as it is", () => {
    const error = new HttpError(502, "BAD_GATEWAY", "No.");
    const { reported, exchange } = replyTo(error);
    expect(reported).toEqual([[error, exchange, 502]]);
  });

  it("reports that the disk is full, since somebody must make room", () => {
    const full = new StorageError("full");
    const { reply, reported, exchange } = replyTo(full);
    expect(reply.status).toBe(507);
    expect(reported).toEqual([[full, exchange, 507]]);
  });

  it.each([
    ["what the client got wrong", gone],
    ["that the server is busy", busy],
    ["that the storage is busy", new StorageError("busy")],
  ])("reports nothing of %s", (_what, thrown) => {
    expect(replyTo(thrown).reported).toEqual([]);
  });

  it("says when to ask again where the server is busy", () => {
    expect(replyTo(busy).reply).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(replyTo(new StorageError("busy")).reply).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  });
});

describe("what was thrown", () => {
  it("stays as it is where it is an HttpError", () => {
    const error = new HttpError(409, "MINE", "Mine.");
    expect(toHttpError(error, "request-1")).toBe(error);
  });

  it.each(Object.entries(storageErrors))('becomes, of a storage with "%s", %o', (code, [status, errorCode]) => {
    const thrown = new StorageError(code as StorageErrorCode);
    const error = toHttpError(thrown, "request-1");
    expect(error).toMatchObject({ status, code: errorCode, cause: thrown });
    expect(error.message).toMatch(/^[A-Z].*\.$/);
  });

  it("tells a client of a storage that is busy or gone, and no other, when to come back", () => {
    const fields = Object.keys(storageErrors).map((code) => [
      code,
      toHttpError(new StorageError(code as StorageErrorCode), "request-1").headers,
    ]);
    const isTemporary = (code: string): boolean => ["busy", "outcome-unknown", "unavailable"].includes(code);
    const expected = Object.keys(storageErrors).map((code) => [code, isTemporary(code) ? { "retry-after": "1" } : {}]);
    expect(fields).toEqual(expected);
  });
});
