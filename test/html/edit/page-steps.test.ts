import { describe, expect, it } from "vitest";
import { SourceElement } from "../../../src/html/document/html-nodes.ts";
import { pageSteps } from "../../../src/html/edit/page-steps.ts";
import { treeEdit } from "../../../src/html/edit/placement.ts";
import { parseFragment } from "../../../src/html/edit/well-formed.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

async function stepsOf(page: string): Promise<string> {
  const steps = [...pageSteps(await parseHtml(page))];
  return steps.map(({ kind, node, data }) => (node instanceof SourceElement ? `${kind} ${node.name}` : data)).join("|");
}

const empty = "start html|start head|end head|start body";

describe("pageSteps", () => {
  it("lists tags, text and comments, template contents among them", async () => {
    expect(await stepsOf("a<template><i>b</template><!--c-->")).toBe(
      `${empty}|a|start template|start i|b|end i|end template|c|end body|end html`,
    );
  });

  it.each([
    [
      "in html and head",
      "<html> <head> <title>t</title> </head> <body>a",
      "start html|start head|start title|t|end title|end head|start body|a",
    ],
    ["at the beginning of body", "<body>\n a", `${empty}|a`],
    ["behind body", "<body>a \n</body>\n</html>\n", `${empty}|a`],
  ])("leaves out white space %s", async (_, page, steps) => {
    expect(await stepsOf(page)).toBe(`${steps}|end body|end html`);
  });

  it("keeps all other white space", async () => {
    expect(await stepsOf("<body>a <b> </b>\n<p>")).toBe(
      `${empty}|a |start b| |end b|\n|start p|end p|end body|end html`,
    );
  });

  it("joins text over what is taken out, and puts in what is supplied", async () => {
    const document = await parseHtml("a<b>x</b>c<p>d</p>");
    const [, , , b, p] = elementsOf(document);
    if (!b || !p) throw new Error("the page is not as it should be");
    const fragment = await parseFragment("e<i>f</i>");
    const edit = treeEdit([
      { start: 1, end: 9, text: "", removes: [b] },
      { start: 14, end: 14, text: fragment.html, fragment, appendsTo: p },
    ]);
    const steps = [...pageSteps(document, edit)].map(({ kind, data, supplied }) => [
      kind,
      data,
      supplied !== undefined,
    ]);
    expect(steps.slice(4, -2)).toEqual([
      ["text", "ac", false],
      ["start", "", false],
      ["text", "de", true],
      ["start", "", true],
      ["text", "f", true],
      ["end", "", true],
      ["end", "", false],
    ]);
  });
});
