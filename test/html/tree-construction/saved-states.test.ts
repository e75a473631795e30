import { describe, expect, it } from "vitest";
import { treeBuilder } from "../../../src/html/document/html-document.ts";
import { ParseBudget } from "../../../src/html/document/parse-budget.ts";
import type { ParserState } from "../../../src/html/tree-construction/parser-state.ts";
import { bytesOfStates, isSameState, noteState } from "../../../src/html/tree-construction/saved-states.ts";
import type { TreeBuilder } from "../../../src/html/tree-construction/tree-builder.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

const paragraphs = "<p>some words</p>\n".repeat(300);

async function statesOf(source: string): Promise<readonly ParserState[]> {
  return (await parseHtml(source)).parse?.states ?? [];
}

function builtUpTo(source: string, position: number): TreeBuilder {
  const builder = treeBuilder(source, new ParseBudget());
  while (builder.tokenizer.position < position) builder.tokenizer.advance();
  return builder;
}

describe("noteState", () => {
  it("saves a state every few kilobytes, with what is open there", async () => {
    const states = await statesOf(`<div>${paragraphs}</div>`);
    expect(states).toHaveLength(2);
    expect(states[0]).toMatchObject({ mode: "in body", framesetOk: false });
    expect(states[0]?.open.map(({ element }) => element.name)).toEqual(["html", "body", "div"]);
  });

  it("saves none in text, in what must not be cut, and in pages that nest deep", async () => {
    expect(await statesOf(`<title>${"x".repeat(9000)}`)).toEqual([]);
    expect(await statesOf(`<form><div></form>${paragraphs}`)).toEqual([]);
    expect(await statesOf(`${"<div>".repeat(120)}${paragraphs}`)).toEqual([]);
  });

  it.each([
    ["a node goes before a table", `<table><tr><td>${paragraphs}</table><table>`, "<table>", 2],
    ["formatting is shared out anew", `<b><i>${paragraphs.replaceAll("p>", "u>")}<p>`, "</b>", 0],
    ["a second body tag gives attributes", paragraphs, "<body class=x>", 0],
    ["a late title goes to the head", `<head></head>${"<!--some words-->".repeat(300)}`, "<title>a</title>", 0],
  ])("drops the states since that do not hold any more: %s", async (_, before, tag, count) => {
    expect(await statesOf(before)).toHaveLength(2);
    const states = await statesOf(`${before}${tag}x`);
    expect(states.filter(({ position }) => position <= before.length)).toHaveLength(count);
  });
});

describe("bytesOfStates", () => {
  it("counts what states refer to, so that a cache knows the memory of a page whose elements nest", async () => {
    const flat = await parseHtml(paragraphs);
    const deep = await parseHtml("<div>".repeat(90) + paragraphs);
    const [flatStates, deepStates] = [flat.parse?.states ?? [], deep.parse?.states ?? []];
    expect(deepStates).toHaveLength(flatStates.length);
    expect(bytesOfStates(deepStates) - bytesOfStates(flatStates)).toBe(deepStates.length * 90 * 20);
    const counted = ({ memoryBytes, source, parse }: typeof flat) =>
      memoryBytes - source.length - (parse?.treeBytes ?? 0);
    expect(counted(deep)).toBe(bytesOfStates(deepStates));
  });

  it("has a bound, whatever a page has open", async () => {
    const states = await statesOf(`${"<div>".repeat(95)}${`<p>${"x".repeat(5000)}</p>`.repeat(2000)}`);
    expect(states.length).toBeGreaterThan(900);
    expect(bytesOfStates(states)).toBeLessThanOrEqual(1024 * (250 + 100 * 20));
  });
});

describe("isSameState", () => {
  it.each([
    ["the same", paragraphs, true],
    ["another mode", `<table><tr><td>${paragraphs}`, false],
    ["another element open", `<div>${paragraphs}`, false],
    ["formatting that is not ended", `<p><b></p>${paragraphs}`, false],
    ["a form that is not ended", `<form>${paragraphs}`, false],
  ])("compares what the rest of the source depends on: %s", async (_, source, expected) => {
    const [state] = await statesOf(paragraphs);
    if (!state) throw new Error("no state");
    const builder = builtUpTo(source, state.position + source.length - paragraphs.length);
    expect(builder.tokenizer.position).toBe(state.position + source.length - paragraphs.length);
    expect(isSameState(builder, state, new Map())).toBe(expected);
  });

  it("takes an element for another one with the same name and attributes only", async () => {
    const [state] = await statesOf(`<div class=a>${paragraphs}`);
    if (!state) throw new Error("no state");
    expect(isSameState(builtUpTo(`<div class=a>${paragraphs}`, state.position), state, new Map())).toBe(true);
    expect(isSameState(builtUpTo(`<div class=b>${paragraphs}`, state.position), state, new Map())).toBe(false);
    const builder = builtUpTo(paragraphs, 0);
    noteState(builder);
    expect(builder.states).toEqual([]);
  });
});
