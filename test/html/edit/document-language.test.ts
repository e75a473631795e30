import { describe, expect, it } from "vitest";
import { parseDocument } from "../../../src/html/document/parse-document.ts";
import { languageOf } from "../../../src/html/edit/document-language.ts";
import { splice } from "../../../src/html/edit/placement.ts";
import { elementsOf } from "../../elements/pages.ts";

describe("languageOf", () => {
  it.each([
    ["html", "<a><br></a>", "<a><br>text</a>"],
    ["xml", "<a><br/></a>", "<a><br/>text</a>"],
    ["xml", "<a/>", "<a>text</a>"],
  ] as const)("gives the rules of %s: what is appended to %s makes %s", async (kind, source, expected) => {
    const document = await parseDocument(kind, Buffer.from(source));
    const elements = elementsOf(document).filter(({ name }) => name === "a");
    const placements = (await languageOf(document).append(document, elements, "text")) ?? [];
    expect(splice(source, placements)).toBe(expected);
  });

  it.each([
    ["html", "<p>a", ["html", "head", "body"]],
    ["xml", "<!-- c --><a><b/></a>", ["a"]],
  ] as const)("knows what every document of %s has", async (kind, source, expected) => {
    const document = await parseDocument(kind, Buffer.from(source));
    expect(
      languageOf(document)
        .permanentElements(document.root)
        .map(({ name }) => name),
    ).toEqual(expected);
  });

  it("writes no XML anew: every element has its place there", async () => {
    const document = await parseDocument("xml", Buffer.from("<a/>"));
    expect(await languageOf(document).normalise(document, [])).toBeUndefined();
  });
});
