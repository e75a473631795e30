import { describe, expect, it } from "vitest";
import { elementBytes, elementHeaders, matchHeaders, withMatches } from "../../src/elements/element-reply.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { fileRequest } from "../helpers/file-request.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { elementsOf } from "./pages.ts";

const limits = { maxFileSize: 1000, maxDocumentSize: 1000 };

describe("elementBytes", () => {
  it("are those of the file, one element behind the other", async () => {
    const document = await parseHtml("<p title='x'>é</P ><p>\r\n");
    const elements = elementsOf(document).filter(({ name }) => name === "p");
    expect(Buffer.from(await elementBytes(document, elements, limits)).toString()).toBe("<p title='x'>é</P ><p>\r\n");
  });

  it("write what no byte of the document can say as a reference", async () => {
    const document = await parseHtml(Buffer.from("<table><td>\xe9&hearts;", "latin1"));
    const elements = elementsOf(document).filter(({ name }) => name === "tbody");
    expect(Buffer.from(await elementBytes(document, elements, limits)).toString("latin1")).toBe(
      "<tbody><tr><td>\xe9&#9829;</td></tr></tbody>",
    );
  });

  it("are not made where they would be too many", async () => {
    const document = await parseHtml("<b>1</b>");
    const four = elementsOf(document);
    await expect(elementBytes(document, four, { ...limits, maxFileSize: 20 })).rejects.toMatchObject({ status: 413 });
    await expect(elementBytes(document, four, { ...limits, maxDocumentSize: 8 })).rejects.toMatchObject({
      status: 413,
    });
  });
});

describe("elementHeaders", () => {
  it("repeat the selector as it was received", async () => {
    const storage = memoryStorage({ "/a.html": "" });
    const stat = await storage.stat("/a.html");
    const request = await fileRequest(storage, "/a.html", { headers: { range: "Selector=  ul > li " } });
    if (!stat) throw new Error("the page is gone");
    expect(elementHeaders({ ...request, stat, selector: "ul > li", right: "read" }, 3)).toEqual({
      "content-type": "text/html; charset=utf-8",
      "content-range": "selector ul > li",
      ...matchHeaders(3),
    });
  });
});

describe("withMatches", () => {
  it("adds the number to an error for the client, and leaves others alone", () => {
    const error = new HttpError(412, "PRECONDITION_FAILED", "no", { headers: { etag: '"a"' } });
    expect(withMatches(error, 2)).toMatchObject({
      status: 412,
      message: "no",
      headers: { etag: '"a"', "x-selector-matches": "2" },
    });
    const other = new Error("disk");
    expect(withMatches(other, 2)).toBe(other);
  });
});
