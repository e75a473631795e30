import { describe, expect, it } from "vitest";
import { atOnce } from "../../../src/event-loop/sliced-work.ts";
import { attributeChanges } from "../../../src/html/edit/attribute-placement.ts";
import { compileSelector } from "../../../src/html/selector/select.ts";
import { selectElements } from "../../elements/selected.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

describe("attributeChanges", () => {
  it("writes no further value once the document would be too long, whatever the number of elements", async () => {
    const document = await parseHtml("<p>".repeat(10_000));
    const elements = selectElements(document, compileSelector("p"));
    let written = 0;
    const valueFor = (): string => {
      written += 1;
      return '"'.repeat(100_000); // six times as long when it is escaped
    };
    const change = { name: "title", valueFor, maxLength: 1_000_000 };
    expect(() => atOnce(attributeChanges(document, elements, change))).toThrow(/would have \d+ bytes; 1000000/);
    expect(written).toBe(2);
  });
});
