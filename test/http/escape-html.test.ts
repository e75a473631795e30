import { describe, expect, it } from "vitest";
import { escapeHtml } from "../../src/http/escape-html.ts";

describe("escapeHtml", () => {
  it("leaves no character that could end a text, a tag or a quoted attribute", () => {
    expect(escapeHtml(`<a title="x" id='y'>&amp;`)).toBe("&lt;a title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;");
  });

  it("leaves every other character as it is", () => {
    expect(escapeHtml("ünï ☃ 💙 `=/")).toBe("ünï ☃ 💙 `=/");
  });
});
