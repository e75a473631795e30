// How a program that uses Filement tests itself: no socket, no port, no disk.
// Run: npm run build && node --test examples/in-process-test.mjs
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileServer, memoryStorage } from "filement";

const page = `<!doctype html><title>To do</title><ul id="todo"><li>Write</li></ul>`;

test("an item can be added to the list", async () => {
  const files = createFileServer({ storage: memoryStorage({ "/to-do.html": page }) });
  const request = (/** @type {RequestInit} */ init) =>
    files.fetch(new Request("http://localhost/to-do.html", { ...init, headers: { range: "selector=#todo li" } }));

  const added = await files.fetch(
    new Request("http://localhost/to-do.html", {
      method: "POST",
      headers: { range: "selector=#todo" },
      body: "<li>Test</li>",
    }),
  );

  assert.equal(added.status, 206);
  assert.equal(await added.text(), `<ul id="todo"><li>Write</li><li>Test</li></ul>`);
  assert.equal(await (await request({ method: "GET" })).text(), "<li>Write</li><li>Test</li>");
});

test("nothing else in the page changes", async () => {
  const storage = memoryStorage({ "/to-do.html": page });
  const files = createFileServer({ storage });
  const headers = { range: "selector=li" };
  await files.fetch(new Request("http://localhost/to-do.html", { method: "DELETE", headers }));
  const response = await files.fetch(new Request("http://localhost/to-do.html"));
  assert.equal(await response.text(), page.replace("<li>Write</li>", ""));
});
