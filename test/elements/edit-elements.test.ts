import { describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { memoryStorage } from "../../src/storage/memory-storage.ts";
import { send, wholePage } from "./editing.ts";

describe("editElements", () => {
  it("refuses an edit whose result is too large, and writes nothing", async () => {
    const files = createFileServer({ storage: memoryStorage({ "/page.html": "<p>a</p>" }), maxDocumentSize: 10 });
    const response = await send(files, "POST", "p", "bcd");
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([413, "RESULT_TOO_LARGE"]);
    expect((await wholePage(files)).toString()).toBe("<p>a</p>");
    await files.close();
  });

  it("announces the new entity tag of the document", async () => {
    const files = createFileServer({ storage: memoryStorage({ "/page.html": "<p>a</p>" }) });
    const etags: unknown[] = [];
    files.changes.subscribe(({ etag }) => etags.push(etag));
    await send(files, "POST", "p", "b");
    const current = (await files.fetch(new Request("http://localhost/page.html"))).headers.get("etag");
    expect(etags).toEqual([current]);
    await files.close();
  });

  it("edits what the edit before left, without reading it again", async () => {
    const files = createFileServer({ storage: memoryStorage({ "/page.html": "<p>a</p>" }) });
    await send(files, "PUT", "p", "<i>b</i>");
    await send(files, "POST", "i", "c");
    await send(files, "DELETE", "p");
    expect((await wholePage(files)).toString()).toBe("<i>bc</i>");
    await files.close();
  });
});
