import { describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";

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
