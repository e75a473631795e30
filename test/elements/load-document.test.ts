import { describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { memoryStorage } from "../../src/storage/memory-storage.ts";

async function read(page: string, maxDocumentSize: number): Promise<[number, string]> {
  const files = createFileServer({ storage: memoryStorage({ "/page.html": page }), maxDocumentSize });
  const request = new Request("http://localhost/page.html", { headers: { range: "selector=p" } });
  const response = await files.fetch(request);
  const body = await response.text();
  await files.close();
  return [response.status, body];
}

describe("loadDocument", () => {
  it("reads a document up to the size limit", async () => {
    expect(await read("<p>a", 4)).toEqual([206, "<p>a"]);
  });

  it("refuses a larger one before it is parsed", async () => {
    const [status, body] = await read("<p>ab", 4);
    expect([status, JSON.parse(body).code]).toEqual([413, "DOCUMENT_TOO_LARGE"]);
  });

  it("refuses one that nests too deep", async () => {
    const [status, body] = await read("<p>".repeat(3) + "<b>".repeat(600), 100_000);
    expect([status, JSON.parse(body).code]).toEqual([422, "DOCUMENT_TOO_DEEP"]);
  });
});
