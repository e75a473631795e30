import { describe, expect, it } from "vitest";
import { endTagsAt, firstTagOf } from "../../../src/html/edit/unclosed-tail.ts";
import { parseFragment } from "../../../src/html/edit/well-formed.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

async function endTags(page: string, name: string, firstTag?: string): Promise<string> {
  const element = elementsOf(await parseHtml(page)).find((each) => each.name === name);
  return endTagsAt(element, (element?.endIndex ?? 0) + 1, firstTag);
}

describe("endTagsAt", () => {
  it("closes what was left open, from the inside", async () => {
    expect(await endTags("<ul><li><p>a</ul>", "li")).toBe("</p></li>");
    expect(await endTags("<table><tr><td>a</table>", "tr")).toBe("</td></tr>");
    expect(await endTags("<div><p><b>a</div>", "p")).toBe("</b></p>");
  });

  it("needs nothing behind an end tag, a void element or text", async () => {
    expect(await endTags("<ul><li>a</li></ul>", "li")).toBe("");
    expect(await endTags("<br>", "br")).toBe("");
    expect(endTagsAt(null, 0)).toBe("");
  });

  it("needs nothing where the next tag closes all of it", async () => {
    expect(await endTags("<ul><li>a</ul>", "li", "li")).toBe("");
    expect(await endTags("<ul><li><b>a</ul>", "li", "li")).toBe("</b></li>");
    expect(await endTags("<ul><li>a</ul>", "li", "b")).toBe("</li>");
  });
});

describe("firstTagOf", () => {
  it("is the tag that HTML begins with", async () => {
    expect(firstTagOf(await parseFragment("<LI>a<p>"))).toBe("li");
    expect(firstTagOf(await parseFragment(" <li>a"))).toBeUndefined();
    expect(firstTagOf(await parseFragment("a"))).toBeUndefined();
  });
});
