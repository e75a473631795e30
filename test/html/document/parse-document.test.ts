import { describe, expect, it } from "vitest";
import { parseDocument, parseSource } from "../../../src/html/document/parse-document.ts";
import { elementsOf } from "../../elements/pages.ts";
import { done } from "../../helpers/done.ts";

const names = async (kind: "html" | "xml", source: string): Promise<string[]> =>
  elementsOf(await done(parseDocument(kind, Buffer.from(source)))).map(({ name }) => name);

describe("parseDocument", () => {
  it("parses HTML as HTML and XML as XML", async () => {
    expect(await names("html", "<A/>")).toEqual(["html", "head", "body", "a"]);
    expect(await names("xml", "<A/>")).toEqual(["A"]);
  });

  it("estimates the memory of a document by its nodes", async () => {
    const small = await done(parseDocument("xml", Buffer.from("<r><a/></r>")));
    const large = await done(parseDocument("xml", Buffer.from(`<r>${"<a/>".repeat(1000)}</r>`)));
    expect(large.memoryBytes).toBeGreaterThan(small.memoryBytes * 50);
  });
});

describe("parseSource", () => {
  it("keeps what the document was", async () => {
    const document = await done(parseDocument("xml", Buffer.from("\ufeff<r/>")));
    const edited = await done(parseSource("<R/>", document));
    expect([edited.kind, edited.hasByteOrderMark, edited.encoding]).toEqual(["xml", true, "utf8"]);
    expect(elementsOf(edited).map(({ name }) => name)).toEqual(["R"]);
  });
});
