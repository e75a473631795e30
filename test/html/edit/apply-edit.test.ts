import { describe, expect, it } from "vitest";
import { atHand } from "../../../src/event-loop/sliced-work.ts";
import type { SourceElement } from "../../../src/html/document/html-nodes.ts";
import { applyEdit } from "../../../src/html/edit/apply-edit.ts";
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
