import { describe, expect, it } from "vitest";
import { rendered } from "../../../src/client/listing/markdown.ts";

describe("Markdown", () => {
  it("is HTML, with tables", () => {
    expect(rendered("# A\n\n*b*")).toBe("<h1>A</h1>\n<p><em>b</em></p>");
    expect(rendered("| a |\n|---|\n| b |")).toContain("<td>b</td>");
  });

  it("is not shown as such where it is too much for a page", () => {
    const table = `${"|a".repeat(300)}|\n${"|-".repeat(300)}|\n`;
    expect(rendered(table)).toContain("<th>a</th>");
    expect(rendered(table + "|\n".repeat(100))).toBeUndefined();
    expect(rendered(`${">".repeat(60)}a ![b](c.png)`)).toContain("c.png");
    expect(rendered(`${">".repeat(65)}a`)).toBeUndefined();
  });

  it.each([
    ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
    ["[a](javascript:alert(1))", '<p><a href="">a</a></p>'],
    ["![a](data:text/html,x)", '<p><img src="" alt="a" /></p>'],
  ])("makes %s harmless", (text, html) => {
    expect(rendered(text)).toBe(html);
  });
});
