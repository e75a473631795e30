import { describe, expect, it } from "vitest";
import { firstLineAt, losesFirstLine } from "../../../src/html/document/first-line.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

async function element(page: string, name: string) {
  const found = elementsOf(await parseHtml(page)).find((each) => each.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
}

describe("losesFirstLine", () => {
  it("is true of pre, listing and textarea of HTML", async () => {
    const page = "<pre></pre><textarea></textarea><svg><pre/></svg><p>";
    expect(losesFirstLine(await element(page, "pre"))).toBe(true);
    expect(losesFirstLine(await element(page, "textarea"))).toBe(true);
    expect(losesFirstLine(await element(page, "p"))).toBe(false);
    expect(losesFirstLine(await element("<math><mi><pre>", "mi"))).toBe(false);
  });
});

describe("firstLineAt", () => {
  it("doubles a line end right behind the start tag only", async () => {
    const pre = await element("<pre>a</pre>", "pre");
    expect([firstLineAt(pre, 5, "\nx"), firstLineAt(pre, 5, "\r\nx"), firstLineAt(pre, 5, "x")]).toEqual([
      "\n",
      "\n",
      "",
    ]);
    expect(firstLineAt(pre, 6, "\nx")).toBe("");
  });
});
