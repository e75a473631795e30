import { describe, expect, it } from "vitest";
import { judgePreconditions } from "../../src/elements/element-preconditions.ts";
import { elementTag } from "../../src/elements/element-tag.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { fileRequest } from "../helpers/file-request.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { elementsOf } from "./pages.ts";

const tag = elementTag(Buffer.from("<p>a"));

async function judge(method: string, headers: Record<string, string>, isReadable = true) {
  const storage = memoryStorage({ "/a.html": "<p>a<p>b" });
  const request = { ...(await fileRequest(storage, "/a.html", { method, headers })), selector: "p:first-child" };
  const stat = await storage.stat("/a.html");
  if (!stat) throw new Error("the page is gone");
  const document = await parseHtml("<p>a<p>b");
  const elements = elementsOf(document).filter(({ name }) => name === "p");
  return judgePreconditions(
    { ...request, stat, right: "read" },
    { document, stat },
    { elements: elements.slice(0, 1), isReadable },
  );
}

describe("judgePreconditions", () => {
  it("goes by the tag of the elements", async () => {
    expect(await judge("PUT", { "if-match": tag })).toBe("proceed");
    expect(await judge("GET", { "if-none-match": tag })).toBe("not-modified");
    await expect(judge("PUT", { "if-none-match": tag })).rejects.toMatchObject({ status: 412, headers: { etag: tag } });
  });

  it("takes the document's tag for If-Match", async () => {
    const version = (await memoryStorage({ "/a.html": "<p>a<p>b" }).stat("/a.html"))?.version;
    expect(await judge("PUT", { "if-match": `"x", ${tag}` })).toBe("proceed");
    await expect(judge("PUT", { "if-match": `"not-${version}"` })).rejects.toMatchObject({ status: 412 });
  });

  it("tells a user who may not read the elements neither their tag, nor whether a guessed one is right", async () => {
    const failed = { status: 412, code: "PRECONDITION_FAILED", headers: {} };
    await expect(judge("PUT", { "if-match": tag }, false)).rejects.toMatchObject(failed);
    await expect(judge("PUT", { "if-match": '"guess"' }, false)).rejects.toMatchObject(failed);
    expect(await judge("PUT", { "if-none-match": tag }, false)).toBe("proceed");
    expect(await judge("PUT", { "if-match": "*" }, false)).toBe("proceed");
  });

  it("lets a write to what is there fail that is to create only", async () => {
    await expect(judge("PUT", { "if-none-match": "*" })).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
  });
});
