import { describe, expect, it } from "vitest";
import { atHand } from "../../../src/event-loop/sliced-work.ts";
import type { SourceElement } from "../../../src/html/document/html-nodes.ts";
import { parseDocument } from "../../../src/html/document/parse-document.ts";
import { applyEdit, languageOf } from "../../../src/html/edit/apply-edit.ts";
import { splice } from "../../../src/html/edit/placement.ts";
import { elementsOf } from "../../elements/pages.ts";
import { done } from "../../helpers/done.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

/** Cuts just the given part of the source out, as if that were the element of a name. */
async function cut(page: string, name: string, part: string, maxLength = 1000) {
  const document = await parseHtml(page);
  const elements = elementsOf(document).filter((element) => element.name === name);
  const edit = {
    place({ source }: { source: string }, [element]: readonly SourceElement[]) {
      const start = source.indexOf(part);
      if (start === -1 || !element) return atHand(undefined);
      return atHand([{ start, end: start + part.length, text: "", removes: [element] }]);
    },
  };
  return done(applyEdit(document, elements, edit, { maxLength }));
}

describe("applyEdit", () => {
  it("makes an edit that is proven", async () => {
    const applied = await cut("<p>a</p>b", "p", "<p>a</p>");
    expect([applied.document.source, applied.isNormalised, applied.elements]).toEqual(["b", false, []]);
  });

  it("tries again on the page in order", async () => {
    const applied = await cut("<P>a</P>b", "p", "<p>a</p>");
    expect([applied.document.source, applied.isNormalised]).toEqual(["<html><head></head><body>b</body></html>", true]);
  });

  it("refuses what does something else", async () => {
    await expect(cut("<p>a</p>b", "p", "a</p>")).rejects.toMatchObject({ code: "INVALID_TARGET" });
  });

  it("refuses a result that is too long", async () => {
    await expect(cut("<p>a</p>bcd", "p", "<p>a</p>", 2)).rejects.toMatchObject({
      code: "RESULT_TOO_LARGE",
    });
  });
});

describe("languageOf", () => {
  it.each([
    ["html", "<a><br></a>", "<a><br>text</a>"],
    ["xml", "<a><br/></a>", "<a><br/>text</a>"],
    ["xml", "<a/>", "<a>text</a>"],
  ] as const)("gives the rules of %s: what is appended to %s makes %s", async (kind, source, expected) => {
    const document = await done(parseDocument(kind, Buffer.from(source)));
    const elements = elementsOf(document).filter(({ name }) => name === "a");
    const placements = (await done(languageOf(document).insert(document, elements, "text", "beforeend"))) ?? [];
    expect(splice(source, placements)).toBe(expected);
  });

  it.each([
    ["html", "<p>a", ["html", "head", "body"]],
    ["xml", "<!-- c --><a><b/></a>", ["a"]],
  ] as const)("knows what every document of %s has", async (kind, source, expected) => {
    const document = await done(parseDocument(kind, Buffer.from(source)));
    expect(
      languageOf(document)
        .permanentElements(document.root)
        .map(({ name }) => name),
    ).toEqual(expected);
  });

  it("writes no XML anew: every element has its place there", async () => {
    const document = await done(parseDocument("xml", Buffer.from("<a/>")));
    expect(await done(languageOf(document).normalise(document, []))).toBeUndefined();
  });
});
