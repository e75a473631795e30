import { describe, expect, it } from "vitest";
import { SourceElement } from "../../../src/html/document/html-nodes.ts";
import type { SourceDocument } from "../../../src/html/document/source-document.ts";
import { type Placement, splice, treeEdit } from "../../../src/html/edit/placement.ts";
import { pageSteps, prove } from "../../../src/html/edit/proof.ts";
import { contextIn, parseFragment } from "../../../src/html/edit/well-formed.ts";
import { elementsOf } from "../../elements/pages.ts";
import { stepClock, turnsUntil } from "../../helpers/counted-work.ts";
import { done } from "../../helpers/done.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

const page =
  "<table><tbody><tr><td>x</td></tr></tbody></table><ul></ul><div></div><p></p><template></template><svg></svg>";

const parse = (source: string): Promise<SourceDocument> => parseHtml(source);

function elementIn(document: SourceDocument, name: string): SourceElement {
  const element = elementsOf(document).find((each) => each.name === name);
  if (!element) throw new Error(`no ${name}`);
  return element;
}

/** Puts a fragment at the end of an element. */
async function put(html: string, parentName: string) {
  const document = await parse(page);
  const parent = elementIn(document, parentName);
  const start = page.indexOf(`</${parentName}>`);
  const fragment = await done(parseFragment(html, contextIn(parent)));
  const placement: Placement = {
    start,
    end: start,
    text: fragment.html,
    fragment,
    adds: { element: parent, position: "beforeend" },
  };
  return done(prove(document, await parse(splice(page, [placement])), [placement], [parent]));
}

/** Takes what stands from `start` to `end` out, and says that this is the element of a name. */
async function remove(source: string, name: string, start: number, end: number): Promise<boolean> {
  const document = await parse(source);
  const placement: Placement = { start, end, text: "", removes: [elementIn(document, name)] };
  return (await done(prove(document, await parse(splice(source, [placement])), [placement], []))).holds;
}

describe("prove", () => {
  it.each([
    ["<li>a<li>b", "ul"],
    ["<tr><td>1", "table"],
    ["<tr><td>1</tr><!--c-->", "table"],
    ["<td>1<td>2", "tr"],
    ["<p>a<div>b</div>", "div"],
    ["<b><i>x</i></b>", "p"],
    ["<path d=x />", "svg"],
    ["x<br>y", "td"],
    ["<tr><td>1", "template"],
  ])("lets %s into %s", async (html, parent) => {
    expect(await put(html, parent)).toMatchObject({ holds: true });
  });

  it.each([
    ["<tr><td>1", "div"],
    ["<div>x</div>", "tr"],
    ["<div>x</div>", "p"],
    ["<p>x</p>", "p"],
    ["<td>1", "ul"],
    ["x", "table"],
    ["<a>1<a>2</a></a>", "div"],
    ["<head></head>", "div"],
    ["<body>x</body>", "div"],
    ["<form><form></form></form>", "div"],
    ["<p>a</p>", "svg"],
    ["<table>x<tr><td>y</table>", "div"],
    ["<image></image>", "div"],
  ])("keeps %s out of %s", async (html, parent) => {
    expect(await put(html, parent)).toMatchObject({ holds: false });
  });

  it("says what of the fragment does not fit, and where it is", async () => {
    const proof = await put("x\n<b>y</b><tr></tr>", "div");
    expect(proof).toMatchObject({ supplied: { step: { tag: { name: "tr" }, line: 2, column: 9 } }, wasFound: false });
  });

  it.each([
    ["text that joins", "a<b>x</b>c", "b", 1, 9],
    ["white space that the parser puts elsewhere", "<title>t</title>\n<p>a</p> <i>b</i>", "p", 17, 25],
    ["white space behind the page", "<p>a</body>\n</html>\n", "p", 0, 4],
  ])("does not mind %s", async (_, source, name, start, end) => {
    expect(await remove(source, name, start, end)).toBe(true);
  });

  it.each([
    ["the end tag of another element goes with it", "<b><p>1</b></p>tail", "p", 3, 15],
    ["text becomes a reference", "&am<b>x</b>p;", "b", 3, 11],
    ["text becomes a tag", "<<b>x</b>p>y", "b", 1, 9],
    ["too little is taken out", "a<b>x</b>c", "b", 1, 4],
    ["too much is taken out", "a<b>x</b><i>c</i>", "b", 1, 12],
    ["quirks mode begins", "<!doctype html><p>x</p>", "p", 0, 23],
  ])("notices that %s", async (_, source, name, start, end) => {
    expect(await remove(source, name, start, end)).toBe(false);
  });

  it.each([
    ["<p id=a>x", "<p id=b>x"],
    ["<p id=a>x", "<p id=a class=b>x"],
    ["<p>x", "<p>y"],
    ["<p>x", "<div>x"],
    ["<svg><a/></svg>", "<math><a/></math>"],
    ["<p>x<!--a-->", "<p>x<!--b-->"],
    ["<p>x", "<p>x<br>"],
    ["<!doctype html><p>", "<!doctype html SYSTEM 'about:legacy-compat'><p>"],
  ])("tells %s from %s", async (before, after) => {
    expect((await done(prove(await parse(before), await parse(after), [], []))).holds).toBe(false);
  });

  it("finds elements again in the new tree", async () => {
    const before = await parse("<p>a<b>c</b>");
    const after = await parse("<p>a</p><b>c</b>".replace("</p><b>", "<b>"));
    const proof = await done(prove(before, after, [], elementsOf(before)));
    expect(proof.holds && [...proof.counterparts.values()]).toEqual(elementsOf(after));
  });

  it("gives way to others in a long page", async () => {
    const long = await parse("<p>a<b>c</b>".repeat(60_000));
    stepClock();
    const proof = done(prove(long, long, [], []));
    expect(await turnsUntil(proof)).toBeGreaterThan(100);
    expect((await proof).holds).toBe(true);
  });
});

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
    const fragment = await done(parseFragment("e<i>f</i>"));
    const edit = treeEdit([
      { start: 1, end: 9, text: "", removes: [b] },
      { start: 14, end: 14, text: fragment.html, fragment, adds: { element: p, position: "beforeend" } },
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
