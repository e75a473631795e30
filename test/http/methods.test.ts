import { describe, expect, it } from "vitest";
import { fileMethods, isChange, takenMethods } from "../../src/http/methods.ts";

describe("the methods that are taken", () => {
  it("are all where nobody says otherwise", () => {
    expect(takenMethods().join()).toBe("GET,HEAD,PUT,POST,DELETE,PATCH,MOVE,COPY,MKCOL,OPTIONS");
    expect(takenMethods({}, { methods: undefined, readOnly: false })).toEqual(fileMethods);
  });

  it("are those named, and HEAD with GET", () => {
    expect(takenMethods({ methods: ["PUT", "GET"] })).toEqual(["GET", "HEAD", "PUT"]);
    expect(takenMethods({ methods: ["OPTIONS"] })).toEqual(["OPTIONS"]);
  });

  it("are those of them that change nothing, where only reading is wanted", () => {
    expect(takenMethods({ readOnly: true })).toEqual(["GET", "HEAD", "OPTIONS"]);
    expect(takenMethods({ readOnly: true, methods: ["GET", "PUT"] })).toEqual(["GET", "HEAD"]);
  });

  it("are those that the host and its file handler want", () => {
    expect(takenMethods({ methods: ["GET", "PUT"] }, { methods: ["PUT", "DELETE"] })).toEqual(["PUT"]);
    expect(takenMethods({ readOnly: true }, { methods: ["PUT"], readOnly: false })).toEqual([]);
  });
});

describe("a change", () => {
  it("is made by all methods but GET, HEAD and OPTIONS", () => {
    expect(fileMethods.filter(isChange)).toEqual(["PUT", "POST", "DELETE", "PATCH", "MOVE", "COPY", "MKCOL"]);
  });
});
