import { describe, expect, it } from "vitest";
import { outermost } from "../../../src/html/edit/outermost.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

async function outermostIds(page: string, name: string): Promise<(string | undefined)[]> {
  const elements = elementsOf(await parseHtml(page)).filter((element) => element.name === name);
  return outermost(elements).map(({ attribs }) => attribs["id"]);
}

describe("outermost", () => {
  it("leaves out what lies in another one, however deep", async () => {
    const page = "<div id=a><p><div id=b><i><div id=c></div></i></div></div><div id=d><div id=e></div></div>";
    expect(await outermostIds(page, "div")).toEqual(["a", "d"]);
  });

  it("keeps siblings and cousins", async () => {
    expect(await outermostIds("<ul><li id=a>x<li id=b>y</ul><ol><li id=c>z</ol>", "li")).toEqual(["a", "b", "c"]);
  });
});
