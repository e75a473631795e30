import { describe, expect, it } from "vitest";
import type { ParseLimits } from "../../../src/html/document/parse-budget.ts";
import { parseEditedPart, parseSource } from "../../../src/html/document/parse-document.ts";
import type { SourceDocument } from "../../../src/html/document/source-document.ts";
import { realPages } from "../../elements/pages.ts";
import { done } from "../../helpers/done.ts";
import { editsInCampaign, sample, seededRandom, timeForMore, timesOf } from "../../helpers/effort.ts";
import { parseHtml } from "../../helpers/parse-html.ts";
import { malformedPage, pageOfTheme } from "../malformed-page.ts";
import { requireSameTree } from "../same-tree.ts";

/** Edits of one page, one after the other. */
const editsOfPage = 100;

/** Long texts, so that a page has several saved states and is parsed in a moment. */
const filler = `<p>some <i>words</i> and ${"more words, ".repeat(9)}<br></p>\n`.repeat(16);

const timeout = 7_200_000; // a campaign of a million edits; each test ends with the time of the campaign

interface Edit {
  readonly source: string;
  readonly start: number;
  readonly end: number;
  readonly shift: number;
}

/** What most edits put into a page. */
const pieces = [
  ..."<p>some <b>more</b> words</p>\n|text &amp; more|<!--c-->|<br>|<div id=x class='a b'>|</div>|<h1>h</h1>|<p>".split(
    "|",
  ),
  ..."<ul><li>a<li>b</ul>|<li>|<table><tr><td>cell</table>|<td>|<select><option>a<option>b</select>|<hr>|<form>".split(
    "|",
  ),
  ..."</form>|<template><p>in</p></template>|<svg><g><path/></g></svg>|<script>let a = '<p>'</script>|<pre>\n\nb</pre>".split(
    "|",
  ),
];

/** A page made of anything, or about one thing: its tags mean something to each other. */
function anyPage(random: () => number): string {
  return random() < 0.5 ? malformedPage(random) : pageOfTheme(random);
}

/** An edit at a random place: mostly of lines, between tags or where a state was saved, sometimes inside a tag. */
function edited({ source, parse }: SourceDocument, random: () => number): Edit {
  const states = parse?.states ?? [];
  const isOfLines = random() < 0.6;
  const place = (): number => {
    const state = random() < 0.1 ? states[Math.floor(random() * states.length)] : undefined;
    if (state) return state.position;
    const anywhere = Math.floor(random() * (source.length + 1));
    if (isOfLines) return source.indexOf("\n", anywhere) + 1 || source.length;
    if (random() < 0.1) return anywhere;
    const mark = random() < 0.5 ? source.indexOf("<", anywhere) : source.indexOf(">", anywhere) + 1;
    return mark > 0 ? mark : anywhere;
  };
  const start = place();
  const next = isOfLines ? source.indexOf("\n", start) + 1 || start : random() < 0.9 ? start + 40 : place();
  const end = Math.min(source.length, random() < 0.5 ? start : Math.max(start, next));
  const piece = pieces[Math.floor(random() * pieces.length)] ?? "";
  const text = random() < 0.2 ? "" : isOfLines || random() < 0.5 ? piece : anyPage(random);
  return editOf(source, start, end, text);
}

/** The edit that puts a text in place of what stands there. */
function editOf(source: string, start: number, end: number, text: string): Edit {
  return { source: source.slice(0, start) + text + source.slice(end), start, end, shift: text.length - (end - start) };
}

/** A page, and the same parsed as a whole. */
interface Page {
  readonly document: SourceDocument;
  readonly whole: SourceDocument;
}

/** The page after an edit. Throws where that is not what a full parse makes of it. */
async function pageAfter(
  edit: Edit,
  { document, whole }: Page,
  limits: ParseLimits = {},
): Promise<Page & { isJoined: boolean }> {
  const part = await done(parseEditedPart(edit.source, edit, document, limits));
  requireSameTree(document, whole); // nothing is taken that is not asked for
  const wholeAfter = await done(parseSource(edit.source, document, limits));
  const joined = part && (await done(part.join()));
  if (joined) requireSameTree(joined, wholeAfter);
  return { document: joined ?? wholeAfter, whole: wholeAfter, isJoined: joined !== undefined };
}

/** The edit that takes back another one. */
function undone({ start, end, shift }: Edit, before: string): Edit {
  return { source: before, start, end: end + shift, shift: -shift };
}

/**
 * Edits a page again and again; gives how many of the edits became part of the old tree. Markup that has all that follows
 * parsed anew, such as `<b>` without an end, is mostly taken out again: else no edit would be part of anything after a while.
 */
async function editPage(html: string | Uint8Array, times: number, random: () => number): Promise<number> {
  let page: Page = { document: await parseHtml(html), whole: await parseHtml(html) };
  let joined = 0;
  let undo: Edit | undefined;
  for (let count = 0; count < times; count += 1) {
    const { source } = page.document;
    const edit = undo ?? edited(page.document, random);
    const next = await pageAfter(edit, page).catch((cause: unknown) => {
      throw new Error(`edit ${count + 1}: ${JSON.stringify({ ...edit, before: source })}`, { cause });
    });
    if (next.isJoined) joined += 1;
    undo = !undo && !next.isJoined && random() < 0.8 ? undone(edit, source) : undefined;
    page = next;
  }
  return joined;
}

/** An edit of a small page: from one tag to the same or another one, mostly. */
function editedAnywhere({ source }: SourceDocument, random: () => number): Edit {
  const place = (from: number): number => {
    const tag = random() < 0.8 ? source.indexOf("<", from) : from;
    return tag < 0 ? source.length : Math.min(source.length, tag);
  };
  const start = place(Math.floor(random() * (source.length + 1)));
  const end = random() < 0.5 ? start : place(start + Math.floor(random() * 20));
  const from = place(Math.floor(random() * source.length));
  const other = random() < 0.4 ? source.slice(from) : pageOfTheme(random); // the page's own tags end and begin its elements
  const text = random() < 0.15 ? "" : other.slice(0, 1 + Math.floor(random() * 40));
  return editOf(source, start, end, text);
}

/** Edits a small page whose parse may go on at every token; gives how many of the edits became part of the old tree. */
async function editSmallPage(html: string, times: number, random: () => number): Promise<number> {
  const limits = { stateDistance: 1 };
  const document = await parseHtml(html);
  const parsed = (): Promise<SourceDocument> => done(parseSource(document.source, document, limits));
  let page: Page = { document: await parsed(), whole: await parsed() };
  let joined = 0;
  for (let count = 0; count < times; count += 1) {
    const { source } = page.document;
    const edit = editedAnywhere(page.document, random);
    const next = await pageAfter(edit, page, limits).catch((cause: unknown) => {
      throw new Error(`edit ${count + 1} of ${JSON.stringify({ html, ...edit, before: source })}`, { cause });
    });
    if (next.isJoined) joined += 1;
    page = next;
  }
  return joined;
}

describe("reparsePart", () => {
  it("looks at the whole page where an element that had no tag has one now", async () => {
    const [before, removed] = ["<!doctype html>\n", "<i></i>"];
    const rest = `<body class=x>${filler}${filler}</body><p>behind</p>`;
    const document = await parseHtml(before + removed + rest);
    const edit = { start: before.length, end: before.length + removed.length, shift: -removed.length };
    const page = await pageAfter({ source: before + rest, ...edit }, { document, whole: document });
    expect(page.isJoined).toBe(false);
  });

  it("goes on from a state at which something was inserted, before it and behind it", async () => {
    const document = await parseHtml(`<div>${filler}${filler}</div>`);
    const start = document.parse?.states[0]?.position ?? 0;
    let page: Page = { document, whole: await parseHtml(document.source) };
    for (const text of ["<br>", "<wbr>", "<img>", "<br>"]) {
      const { source } = page.document;
      const edit = { start, end: start, shift: text.length };
      const next = await pageAfter({ source: source.slice(0, start) + text + source.slice(start), ...edit }, page);
      expect(next.isJoined).toBe(true);
      page = next;
    }
    const positions = page.document.parse?.states.map(({ position }) => position) ?? [];
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
    expect(positions).toContain(start);
  });

  it("saves states closer to an edit than elsewhere, so that the next one there parses less", async () => {
    const document = await parseHtml(`<div>${filler}${filler}</div>`);
    const start = document.source.indexOf("<p>", document.source.length / 2);
    const edit = { start, end: start, shift: 4 };
    const source = `${document.source.slice(0, start)}<br>${document.source.slice(start)}`;
    const near = ({ parse }: SourceDocument): number =>
      parse?.states.filter(({ position }) => Math.abs(position - start) <= 1024).length ?? 0;
    expect(near(document)).toBe(1);
    const page = await pageAfter({ source, ...edit }, { document, whole: await parseHtml(document.source) });
    expect(near(page.document)).toBe(3);
  });

  it("gives an element that loses its start tag no end either", async () => {
    const rows = "<td>1</td>".repeat(1000);
    const document = await parseHtml(`<p>before</p><table>${rows}</table><table><tr>${rows}</tr></table>`);
    const start = document.source.indexOf("<tr>");
    const edit = { source: document.source.replace("<tr>", ""), start, end: start + 4, shift: -4 };
    await expect(pageAfter(edit, { document, whole: await parseHtml(document.source) })).resolves.toBeDefined();
  });

  it.each(["<div title='", "<b class=", "<!-- "])(
    "goes on in what the end of a page has cut off: %s",
    async (cutOff) => {
      const document = await parseHtml(`<li><p></p>${cutOff}${"x".repeat(2100)}`);
      const { length } = document.source;
      const text = "<i>1</i>' --><i>2</i>";
      const edit = { source: document.source + text, start: length, end: length, shift: text.length };
      await expect(pageAfter(edit, { document, whole: await parseHtml(document.source) })).resolves.toBeDefined();
    },
  );

  it("goes on in a tag that the end cuts off where a state was saved, since all behind it was deleted", async () => {
    const limits = { stateDistance: 1 };
    const document = await done(parseSource("<button></p>", await parseHtml(""), limits));
    let page: Page = { document, whole: await parseHtml(document.source) };
    for (const [source, start, end] of [
      ["<button>", 8, 12],
      ["<button></p></s", 8, 8],
      ["<button></p></s><", 15, 15],
    ] as const) {
      const shift = source.length - page.document.source.length;
      page = await pageAfter({ source, start, end, shift }, page, limits);
    }
    expect(page.document.source).toBe("<button></p></s><");
  });

  it("makes the tree of a full parse after each of 100 random edits of a page", { timeout }, async () => {
    const random = seededRandom(51);
    const usual = 800 / editsOfPage;
    const isTimeFor = timeForMore(usual);
    const pages = timesOf(usual, editsInCampaign / editsOfPage);
    let [joined, edits] = [0, 0];
    for (let page = 0; page < pages && isTimeFor(page); page += 1) {
      const [first, second] = [0.3, 0.2].map((share) => (random() < share ? anyPage(random) : "<title>t</title>"));
      const html = `<!doctype html>${first}${filler}${second}${filler}`;
      joined += await editPage(html, editsOfPage, random);
      edits += editsOfPage;
    }
    console.info(`${edits} edits, ${joined} of them part of the tree before`);
    expect(joined).toBeGreaterThan(edits / 5);
  });

  it("makes the tree of a full parse after chains of edits of malformed pages that may go on at every token", {
    timeout,
  }, async () => {
    const random = seededRandom(55);
    const [usual, editsOfSmallPage] = [120, 4];
    const isTimeFor = timeForMore(usual);
    const pages = timesOf(usual, editsInCampaign / editsOfSmallPage);
    let [joined, edits] = [0, 0];
    for (let page = 0; page < pages && isTimeFor(page); page += 1) {
      const html = (random() < 0.7 ? pageOfTheme : malformedPage)(random);
      joined += await editSmallPage(html, editsOfSmallPage, random);
      edits += editsOfSmallPage;
    }
    console.info(`${edits} edits of small pages, ${joined} of them part of the tree before`);
    expect(joined).toBeGreaterThan(edits / 3);
  });

  it("makes the tree of a full parse after each edit of real pages", { timeout }, async () => {
    const random = seededRandom(53);
    const times = 20;
    const isTimeFor = timeForMore(4 * times);
    let [joined, edits] = [0, 0];
    for (const { bytes } of sample(realPages(), 8)) {
      if (!isTimeFor(edits)) break;
      joined += await editPage(bytes, times, random);
      edits += times;
    }
    expect(joined).toBeGreaterThanOrEqual(edits / 10);
  });
});
