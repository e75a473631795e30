import { describe, expect, it, onTestFinished } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { withoutFragments } from "../../src/files/refuse-fragments.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { fileRequest } from "../helpers/file-request.ts";

const page = "<!-- a -->\n<!DOCTYPE html><title>t</title>";

async function put(stored: string | undefined, body: string, path = "/a.html", refuseFragments = true) {
  const storage = memoryStorage(stored === undefined ? {} : { [path]: stored });
  const files = createFileServer({ storage, refuseFragments });
  onTestFinished(() => files.close());
  const reply = await files.fetch(new Request(`http://localhost${path}`, { method: "PUT", body }));
  const { code } = (await reply.json()) as { code?: string };
  const after = await (await files.fetch(new Request(`http://localhost${path}`))).text();
  return [reply.status, code, after === stored];
}

describe("the option refuseFragments", () => {
  it.each(["<li>a</li>", "", "text", "<header>a</header>", `${"<p>".repeat(40_000)}<html>`])(
    "refuses a fragment in place of a page, and leaves that: %#",
    async (fragment) => {
      expect(await put(page, fragment)).toEqual([409, "FRAGMENT_REFUSED", true]);
    },
  );

  it.each(["<html lang=en>", "<HEAD>", "x<body\n>", "<!doctype html><p>", `<!--${"x".repeat(60_000)}--><html>`])(
    "takes a page for a page: %#",
    async (other) => {
      expect(await put(page, other)).toEqual([200, undefined, false]);
    },
  );

  it.each([
    ["where nothing is stored", undefined, "/a.html"],
    ["in place of a fragment", "<p>a</p>", "/a.html"],
    ["in place of an empty file", "", "/a.html"],
    ["in a file of another type", page, "/a.txt"],
  ])("lets a fragment be stored %s", async (_, stored, path) => {
    expect((await put(stored, "<li>b</li>", path))[0]).toBeLessThan(300);
  });

  it("is off unless it is asked for", async () => {
    expect(await put(page, "<li>b</li>", "/a.html", false)).toEqual([200, undefined, false]);
  });
});

describe("withoutFragments", () => {
  it("finds markup that arrives in pieces, and holds back no more than it has to look at", async () => {
    const big = "x".repeat(70_000);
    const storage = memoryStorage({ "/a.html": page });
    const body = ["<!doc", "type html>", big, big];
    const request = await fileRequest(storage, "/a.html", {
      method: "PUT",
      body,
      options: { refuseFragments: true, maxFileSize: 1e6 },
    });
    const pieces: number[] = [];
    for await (const piece of await withoutFragments(request)) pieces.push(piece.byteLength);
    expect(pieces).toEqual(body.map(({ length }) => length));
  });
});
