import { describe, expect, it } from "vitest";
import { parseLimits } from "../../src/elements/load-document.ts";
import { createFileServer } from "../../src/file-server.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { send, serveOne } from "./editing.ts";

/** Status, and the elements or the code of the error. */
async function read(page: string, options: object = {}, path = "/page.html"): Promise<[number, string]> {
  const files = createFileServer({ storage: memoryStorage({ [path]: page }), ...options });
  const request = new Request(`http://localhost${path}`, { headers: { range: "selector=p" } });
  const response = await files.fetch(request);
  const body = await response.text();
  await files.close();
  return [response.status, response.status < 400 ? body : JSON.parse(body).code];
}

describe("loadDocument", () => {
  it("reads a document up to the size limit", async () => {
    expect(await read("<p>a", { maxDocumentSize: 4 })).toEqual([206, "<p>a"]);
  });

  it("refuses a larger one before it is parsed", async () => {
    expect(await read("<p>ab", { maxDocumentSize: 4 })).toEqual([413, "DOCUMENT_TOO_LARGE"]);
  });

  it("refuses one that nests too deep", async () => {
    expect(await read("<p>".repeat(3) + "<b>".repeat(600))).toEqual([422, "DOCUMENT_TOO_DEEP"]);
    expect(await read("<p><i><b>", { maxDocumentDepth: 4 })).toEqual([422, "DOCUMENT_TOO_DEEP"]);
  });

  it.each(["/page.html", "/page.HTM", "/page.xhtml", "/page.xml", "/page.svg"])("parses %s", async (path) => {
    expect(await read("<p>a</p>", {}, path)).toEqual([206, "<p>a</p>"]);
  });

  it.each(["/page.txt", "/page.json", "/page"])("says that %s has no elements", async (path) => {
    expect(await read("<p>a</p>", {}, path)).toEqual([416, "NOT_HTML"]);
  });
});

describe("parseLimits", () => {
  it("takes depth and steps from the options", () => {
    const client = { address: "a" };
    const limits = parseLimits({ maxDocumentSize: 6, maxDocumentDepth: 7, maxParseSteps: 8 }, client);
    expect(limits).toEqual({ maxDepth: 7, maxParseSteps: 8, client });
  });

  it.each(["GET", "PUT"])("bounds what %s parses", async (method) => {
    const files = serveOne("<b><b><b>", { maxDocumentDepth: 4 });
    const { status } = await send(files, method, "b", method === "PUT" ? "x" : undefined);
    expect(status).toBe(422);
    await files.close();
  });

  it("bounds what an edit makes of a page", async () => {
    const files = serveOne("<p>a</p>", { maxDocumentDepth: 4 });
    expect((await send(files, "POST", "p", "<b>x</b>")).status).toBe(206);
    expect((await send(files, "POST", "p", "<b><i>x</i></b>")).status).toBe(422);
    await files.close();
  });
});
