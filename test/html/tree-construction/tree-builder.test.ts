import { describe, expect, it } from "vitest";
import { tagNamed } from "../../../src/html/tree-construction/tags.ts";
import { ignore, ruleTable } from "../../../src/html/tree-construction/tree-builder.ts";
import { sample } from "../../helpers/effort.ts";
import { parseHtml } from "../../helpers/parse-html.ts";
import { dump, treeCases } from "../html5lib.ts";
import { bodyOf } from "../reading.ts";

/** Browsers copy the chosen option into `selectedcontent`. The copy is not in the file, and is not in the tree. */
const isCopied = (data: string): boolean => data.includes("<selectedcontent>") && data.includes("<option");

describe("TreeBuilder", () => {
  it("builds the trees that html5lib expects of documents with scripting", { tags: ["html5lib"] }, async () => {
    const wrong: unknown[] = [];
    let count = 0;
    for (const { data, document, fragmentOf, scripting } of treeCases()) {
      // Filement parses no fragments: an edit is proven by parsing the whole page.
      if (fragmentOf !== undefined || scripting === "off" || isCopied(data)) continue;
      const tree = dump((await parseHtml(data)).root);
      count += 1;
      if (tree !== document) wrong.push({ data, document, tree });
    }
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(1500);
  });

  it("leaves out the copy that browsers put into selectedcontent", async () => {
    const body = "<select><button><selectedcontent></selectedcontent></button><option>a</option></select>";
    expect(await bodyOf(body)).toBe(body);
  });

  it("opens formatting again behind what ended it", async () => {
    expect(await bodyOf("<p><b><i>a<p>b</i>c")).toBe("<p><b><i>a</i></b></p><p><b><i>b</i>c</b></p>");
    expect(await bodyOf("<div><b>a</div>b<p>c</p>")).toBe("<div><b>a</b></div><b>b<p>c</p></b>");
  });

  it("goes on in the mode that the open elements say", async () => {
    expect(await bodyOf("<table><td><table></table>a<td>b")).toBe(
      "<table><tbody><tr><td><table></table>a</td><td>b</td></tr></tbody></table>",
    );
    expect(await bodyOf("<table><caption><template></template>a<tr>")).toBe(
      "<table><caption><template></template>a</caption><tbody><tr></tr></tbody></table>",
    );
  });

  const large = [
    ["nodes that go before a table", `<table>${"<b></b>x<br>".repeat(50_000)}`],
    ["texts that go before a table", `<table>${"x<tr>".repeat(50_000)}`],
    ["formatting across a block of many nodes", `<b><p>${"<br>".repeat(50_000)}${"</b><b>".repeat(20_000)}`],
    ["tables in a table", `<table><td>${"<table></table>".repeat(50_000)}`],
    ["end tags that end nothing in many elements", `${"<div>".repeat(400)}${"</p></x-y></li></form>".repeat(5000)}`],
    ["raw text without what needs a look", "<title>a</title>".repeat(50_000)],
    ["references", `<p>${"&lt;".repeat(500_000)}`],
    ["carriage returns in a table", `<table>${"\r".repeat(500_000)}`],
    ["what never ends", `${"<title>".repeat(3)}${"</titl".repeat(100_000)}`],
  ] as const;

  it.each(sample(large, 3))("reads many %s in time that grows with them", async (_, html) => {
    expect((await parseHtml(html)).root.children.length).toBeGreaterThan(0);
  });
});

describe("ruleTable", () => {
  it("has a rule for each name, several names in one key, and one for all others", () => {
    const rule = (): void => {};
    const table = ruleTable({ "a\n    b": rule, i: ignore }, ignore);
    expect(["a", "b", "i", "p"].map((name) => table[tagNamed(name).id])).toEqual([rule, rule, ignore, ignore]);
    expect(table[0]).toBe(ignore);
  });

  it("knows no rules for names that it does not know", () => {
    expect(() => ruleTable({ "a bb": ignore }, ignore)).toThrow("bb is not a tag name");
  });
});
