import { describe, expect, it } from "vitest";
import type { Plugin } from "../../src/server/plugin.ts";
import { accessOf } from "../helpers/file-request.ts";
import { edit, send, serveOne } from "./editing.ts";

const page = "<p>a</p><p>b<br></p>";

describe("OPTIONS with a selector", () => {
  it.each([
    ["p", "2", "GET, HEAD, PUT, POST, DELETE, OPTIONS"],
    ["br", "1", "GET, HEAD, PUT, DELETE, OPTIONS"],
    ["body", "1", "GET, HEAD, PUT, POST, OPTIONS"],
    ["*", "6", "GET, HEAD, PUT, OPTIONS"],
    ["table", "0", "GET, HEAD, PUT, POST, DELETE, OPTIONS"],
  ])("tells what can be done to %s", async (selector, matches, allow) => {
    const { status, headers, body } = await edit(page, "OPTIONS", selector);
    expect([status, headers.get("x-selector-matches"), headers.get("allow"), body]).toEqual([200, matches, allow, ""]);
    expect([headers.get("vary"), headers.get("content-length")]).toEqual(["Range, Authorization", "0"]);
  });

  it("tells what this user may do", async () => {
    const reader: Plugin = {
      name: "reader",
      handle(exchange, next) {
        exchange.access = accessOf((right) => right === "read" || right === "append");
        return next();
      },
    };
    const files = serveOne(page, { plugins: [reader] });
    expect((await send(files, "OPTIONS", "p")).headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
    await files.close();
  });

  it("tells nothing to those who may not read", async () => {
    const writer: Plugin = {
      name: "writer",
      handle(exchange, next) {
        exchange.access = accessOf((right) => right === "append" || right === "list");
        return next();
      },
    };
    const files = serveOne(page, { plugins: [writer] });
    expect((await send(files, "OPTIONS", "p")).status).toBe(401);
    await files.close();
  });

  it("refuses a selector that no browser takes", async () => {
    expect((await edit(page, "OPTIONS", "p >")).status).toBe(400);
  });
});
