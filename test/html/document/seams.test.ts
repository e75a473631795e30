import { describe, expect, it } from "vitest";
import { SourceElement, type TreeParent } from "../../../src/html/document/html-nodes.ts";
import { parseEditedPart } from "../../../src/html/document/parse-document.ts";
import type { Neighbours } from "../../../src/html/document/seams.ts";
import { done } from "../../helpers/done.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

const item = "<li>some words</li>";
const before = `<!doctype html><title>t</title><p>first</p><ul>${item.repeat(400)}`;
const behind = `${item.repeat(400)}</ul><div id=d>last</div>`;

/** The part of the page that is parsed for a further item in the middle, or for a text in its template. */
async function partOf(opening = "", closing = "") {
  const document = await parseHtml(before + opening + item + closing + behind);
  const start = before.length + opening.length;
  const source = document.source.slice(0, start) + item + document.source.slice(start);
  const part = await done(parseEditedPart(source, { start, end: start, shift: item.length }, document));
  if (!part) throw new Error("not in part");
  return { document, part };
}

function nameOf(parent: TreeParent): string {
  return parent instanceof SourceElement ? parent.name : "root";
}

describe("seamsOf", () => {
  it("cuts both trees along the open elements: what stands before and behind is the same in both", async () => {
    const { part } = await partOf();
    const { before: old, after: now } = part.seams;
    expect([...old.begin.keys()].map(nameOf)).toEqual(["root", "html", "body", "ul"]);
    expect([...now.begin.keys()].map(nameOf)).toEqual(["root", "html", "body", "ul"]);
    expect([...old.end.keys()].map(nameOf)).toEqual(["body", "ul"]);
    expect([...now.end.keys()].map(nameOf)).toEqual(["body", "ul"]);
    for (const [parent, { owner }] of [...old.begin, ...old.end]) expect(owner).toBe(parent);
    const owners = [...old.begin.values(), ...old.end.values()].map(({ owner }) => owner);
    expect([...now.begin.values(), ...now.end.values()].map(({ owner }) => owner)).toEqual(owners);
  });

  it("leaves between them what is parsed again", async () => {
    const { part } = await partOf();
    const list = [...part.seams.before.begin.keys()].at(-1) as TreeParent;
    const [first, last] = [part.seams.before.begin.get(list)?.at, part.seams.before.end.get(list)?.at];
    const looked = list.children.slice(
      list.children.indexOf(first as SourceElement),
      list.children.indexOf(last as SourceElement),
    );
    const parsed = [...part.seams.after.begin.keys()].at(-1)?.children ?? [];
    expect(parsed).toHaveLength(looked.length + 1);
    expect(parsed.length).toBeLessThan(500);
  });
});

describe("neighboursOf", () => {
  it("gives the elements next to the part, in document order", async () => {
    const { part } = await partOf();
    const { before: last, behind: next, position } = part.neighbours as Neighbours;
    expect([last?.name, next?.name]).toEqual(["li", "li"]);
    expect(position).toBe((next?.startIndex ?? 0) + item.length);
  });

  it("gives none in a template, whose content is not found by selectors", async () => {
    const { part } = await partOf(`<template>${item.repeat(400)}`, `${item.repeat(400)}</template>`);
    expect(part.neighbours).toBeUndefined();
  });
});
