import { describe, expect, it, vi } from "vitest";
import { ChangeMessage, changeText, gapText, helloText } from "../../../src/plugins/live/change-message.ts";
import type { Change } from "../../../src/server/change-feed.ts";

const change = {
  requestId: "r",
  path: "/a\n.html",
  kind: "replaced",
  method: "PUT",
  host: "h",
  user: undefined as never,
  id: 7,
  time: "2026-01-01T00:00:00.000Z",
} as const;

describe("a change as JSON", () => {
  it("has its members in one order, on one line, and only those that are there", () => {
    expect(changeText(change)).toBe(
      '{"type":"change","id":7,"kind":"replaced","method":"PUT","host":"h","path":"/a\\n.html","requestId":"r","time":"2026-01-01T00:00:00.000Z"}',
    );
  });

  it("has what an edit of elements has", () => {
    const edit = { selector: "p", matches: 2, html: "<p>", etag: '"e"', user: "ada" };
    expect(JSON.parse(changeText({ ...change, ...edit } as Change))).toEqual({ type: "change", ...change, ...edit });
  });
});

describe("the other messages", () => {
  it("are a greeting and a gap", () => {
    const position = { name: "f", lastId: 3 };
    expect(helloText(position, undefined)).toBe('{"type":"hello","feed":"f","id":3}');
    expect(helloText(position, "/a")).toBe('{"type":"hello","feed":"f","id":3,"path":"/a"}');
    expect(gapText).toBe('{"type":"gap"}');
  });
});

describe("ChangeMessage", () => {
  it("is encoded once for each kind of client", () => {
    const message = new ChangeMessage(change, "feed");
    const text = vi.fn(() => Buffer.from("text"));
    const other = vi.fn(() => Buffer.from("other"));
    expect(message.as(text)).toBe(message.as(text));
    expect(String(message.as(other))).toBe("other");
    expect([text.mock.calls, other.mock.calls]).toEqual([[[change, "feed"]], [[change, "feed"]]]);
  });
});
