import { describe, expect, it } from "vitest";
import { SourceElement } from "../../../src/html/document/html-nodes.ts";
import { nextOf, previousOf } from "../../../src/html/edit/neighbours.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

async function around(page: string, id: string): Promise<(string | undefined)[]> {
  const element = elementsOf(await parseHtml(page)).find(({ attribs }) => attribs["id"] === id);
  if (!element) throw new Error(`no #${id}`);
  return [previousOf(element), nextOf(element)].map((node) => (node instanceof SourceElement ? node.name : node?.type));
}

describe("previousOf and nextOf", () => {
  it("are the siblings", async () => {
    expect(await around("<p></p><b id=a></b>x", "a")).toEqual(["p", "text"]);
    expect(await around("<div><b id=a></b></div><p>", "a")).toEqual([undefined, undefined]);
  });

  it("are those of an implied parent at its beginning and end", async () => {
    const page = "<table><caption></caption><tr id=a><td><tr><td><tr id=b><td><tbody></table>";
    expect(await around(page, "a")).toEqual(["caption", "tr"]);
    expect(await around(page, "b")).toEqual(["tr", "tbody"]);
  });
});
