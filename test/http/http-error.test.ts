import { describe, expect, it } from "vitest";
import { HttpError, notFound, toHttpError } from "../../src/http/http-error.ts";
import { StorageError, type StorageErrorCode } from "../../src/storage/storage.ts";

const storageErrors: Record<StorageErrorCode, readonly [status: number, code: string]> = {
  "not-found": [404, "NOT_FOUND"],
  exists: [409, "FILE_EXISTS"],
  "is-directory": [405, "IS_DIRECTORY"],
  "not-a-directory": [409, "NOT_A_DIRECTORY"],
  "no-parent": [409, "NO_PARENT"],
  "not-empty": [409, "DIRECTORY_NOT_EMPTY"],
  forbidden: [403, "FORBIDDEN_PATH"],
  "name-too-long": [400, "INVALID_PATH"],
  full: [507, "INSUFFICIENT_STORAGE"],
  busy: [503, "OVERLOADED"],
  conflict: [409, "WRITE_CONFLICT"],
};

describe("an HttpError", () => {
  it("carries status, code, details and header fields", () => {
    const error = new HttpError(405, "METHOD_NOT_ALLOWED", "Supported here: GET.", { headers: { allow: "GET" } });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "HttpError",
      status: 405,
      code: "METHOD_NOT_ALLOWED",
      message: "Supported here: GET.",
      headers: { allow: "GET" },
      reason: "Method Not Allowed",
    });
    expect("cause" in error).toBe(false);
  });

  it("keeps its cause, be it a falsy one", () => {
    const cause = new Error("underneath");
    expect(new HttpError(500, "X", "x", { cause }).cause).toBe(cause);
    expect(new HttpError(500, "X", "x", { cause: null }).cause).toBe(null);
  });

  it("has no header fields unless it is given some", () => {
    expect(new HttpError(400, "X", "x").headers).toEqual({});
  });

  it("has a reason for a status that nobody has registered", () => {
    expect(new HttpError(499, "X", "x").reason).toBe("Error");
  });

  it("is a new one for each path that leads to nothing", () => {
    expect(notFound()).toMatchObject({ status: 404, code: "NOT_FOUND" });
    expect(notFound()).not.toBe(notFound());
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

  it("tells a client of a busy storage, and no other, when to come back", () => {
    const fields = Object.keys(storageErrors).map((code) => [
      code,
      toHttpError(new StorageError(code as StorageErrorCode), "request-1").headers,
    ]);
    const expected = Object.keys(storageErrors).map((code) => [code, code === "busy" ? { "retry-after": "1" } : {}]);
    expect(fields).toEqual(expected);
  });

  it.each([
    ["an Error", new Error("/srv/secret is broken")],
    ["a string", "/srv/secret"],
    ["undefined", undefined],
    ["null", null],
    ["what looks like an HttpError", { status: 404, code: "NOT_FOUND", message: "/srv/secret", headers: {} }],
  ])("becomes, of %s, a 500 that names the request and tells no more", (_what, thrown) => {
    const error = toHttpError(thrown, "request-7");
    expect(error).toMatchObject({ status: 500, code: "INTERNAL_ERROR" });
    expect(error.message).toBe("The server failed to answer request request-7.");
    expect(error.cause).toBe(thrown);
  });
});
