import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import {
  DocumentError,
  type Edit,
  type PageLimits,
  parsePage,
  parsePageInSlices,
  type SourceEdit,
} from "../../src/html/page.ts";
import { realPages } from "../elements/pages.ts";
import { stepClock, turnsUntil } from "../helpers/counted-work.ts";
import { sample } from "../helpers/effort.ts";

const list = "<!doctype html>\n<UL id='list'><li id=a class=one>a <b>bold</b>\n<li id=b>b</UL>\n";

/** A source after changes, one after the other. */
function changed(source: string, changes: readonly SourceEdit[]): string {
  return changes.reduce((text, { start, end, text: by }) => text.slice(0, start) + by + text.slice(end), source);
}

/** What a function throws. */
function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("it throws nothing");
}

describe("parsePage", () => {
  it("tells of the elements that a selector selects", () => {
    const page = parsePage(list);
    const [item, ...others] = page.select("#a");
    expect(others).toEqual([]);
    expect(item).toMatchObject({ name: "li", attributes: { id: "a", class: "one" }, text: "a bold\n" });
    expect(item?.outerHtml).toBe("<li id=a class=one>a <b>bold</b>\n");
    expect(page.source.slice(item?.start, item?.end)).toBe(item?.outerHtml);
    expect(page.select("p")).toEqual([]);
  });

  it("says of an element that the source does not hold what it is, but no place", () => {
    const [body] = parsePage("<table><tr><td>1</table>").select("tbody");
    expect(body).toMatchObject({ start: undefined, end: undefined, text: "1" });
    expect(body?.outerHtml).toBe("<tbody><tr><td>1</td></tr></tbody>");
  });

  it("gives back the bytes of every page, whatever they are", () => {
    const bytes = Buffer.from("\ufeff<p>\u00e9</p>");
    expect(parsePage(bytes).source).toBe("<p>\u00e9</p>");
    for (const each of [bytes, Buffer.from("<p>\xe9</p>", "latin1"), Buffer.from("<p>\0\r\n")]) {
      expect(Buffer.from(parsePage(each).toBytes())).toEqual(each);
    }
    expect(Buffer.from(parsePage("\ufeff<p>\u00e9</p>").toBytes())).toEqual(bytes);
    for (const { name, bytes: real } of sample(realPages(), 10)) {
      expect(Buffer.compare(parsePage(real).toBytes(), real), name).toBe(0);
    }
  });

  it("reads XML as XML, and says where it is not well-formed", () => {
    const page = parsePage("<Feed><Item/></Feed>", { kind: "xml" });
    expect(page.select("Item").map(({ name }) => name)).toEqual(["Item"]);
    const error = thrownBy(() => parsePage("<a>\n <b></a>", { kind: "xml" }));
    expect(error).toBeInstanceOf(DocumentError);
    expect(error).toMatchObject({ code: "NOT_WELL_FORMED", line: 2 });
  });

  it.each([
    ["maxDepth", { maxDepth: 3 }, "DOCUMENT_TOO_DEEP"],
    ["maxParseSteps", { maxParseSteps: 5 }, "DOCUMENT_TOO_COSTLY"],
    ["maxMatches", { maxMatches: 1 }, "TOO_MANY_MATCHES"],
    ["maxSelectionSteps", { maxSelectionSteps: 1 }, "SELECTOR_TOO_COSTLY"],
  ])("takes %s as a limit", (_, limits, code) => {
    expect(thrownBy(() => parsePage(list, { limits }).select("li b, li"))).toMatchObject({ code });
  });
});

describe("an edit of a page", () => {
  it("changes just what it is about", () => {
    const page = parsePage(list);
    page.edit([
      { op: "addClass", selector: "#a", class: "two" },
      { op: "insert", selector: "ul", position: "beforeend", html: "<li id=c>c" },
      { op: "setText", selector: "b", text: "<1>" },
    ]);
    expect(page.source).toBe(
      "<!doctype html>\n<UL id='list'><li id=a class=\"one two\">a <b>&lt;1&gt;</b>\n<li id=b>b<li id=c>c</li></UL>\n",
    );
    expect(page.toBytes()).toEqual(Buffer.from(page.source));
    expect(page.select("li").map(({ attributes }) => attributes["id"])).toEqual(["a", "b", "c"]);
  });

  it("tells what each edit matched, what stands there now, and what has changed in the source", () => {
    const page = parsePage("<p>a</p><p>b</p><i></i>");
    const { source } = page;
    const results = page.edit([
      { op: "setText", selector: "p", text: "long" },
      { op: "remove", selector: "p:first-child" },
      { op: "move", selector: "p", to: "i", position: "afterend" },
      { op: "test", selector: "i", matches: 1 },
      { op: "remove", selector: "h1" },
    ]);
    expect(results.map(({ matches, before, after }) => [matches, before, after])).toEqual([
      [2, ["<p>a</p>", "<p>b</p>"], ["<p>long</p>", "<p>long</p>"]],
      [1, ["<p>long</p>"], []],
      [1, ["<p>long</p>"], ["<p>long</p>"]],
      [1, ["<i></i>"], ["<i></i>"]],
      [0, [], []],
    ]);
    expect(results[0]?.changes).toEqual([
      { start: 11, end: 12, text: "long" },
      { start: 3, end: 4, text: "long" },
    ]);
    expect(results.slice(3).flatMap(({ changes }) => changes)).toEqual([]);
    expect(page.source).toBe("<i></i><p>long</p>");
    const all = results.flatMap(({ changes }) => changes);
    expect(changed(source, all)).toBe(page.source);
  });

  it("tells of a page that has to be written anew as one change", () => {
    const page = parsePage("<table><tr><td>1</table>");
    const { source } = page;
    const [result] = page.edit([{ op: "setAttribute", selector: "tbody", name: "id", value: "x" }]);
    expect(page.select("tbody")[0]).toMatchObject({ attributes: { id: "x" } });
    expect(changed(source, result?.changes ?? [])).toBe(page.source);
  });

  it("ends the elements that were selected before", () => {
    const page = parsePage(list);
    const [item] = page.select("#b");
    page.edit([{ op: "insert", selector: "#a", position: "beforebegin", html: "<li>x</li>" }]);
    for (const member of ["name", "attributes", "text", "outerHtml", "start", "end"] as const) {
      expect(() => item?.[member]).toThrow("select it again");
    }
    expect(page.select("#b")[0]?.outerHtml).toBe("<li id=b>b");
  });

  const failing: readonly (readonly [string, Edit, object])[] = [
    ["a condition", { op: "test", selector: "li", matches: 7 }, { code: "EDIT_PRECONDITION_FAILED", index: 1 }],
    [
      "broken HTML",
      { op: "insert", selector: "ul", position: "beforeend", html: "<li>\n<b>x</li>" },
      { code: "INVALID_HTML", index: 1, line: 2, column: 1 },
    ],
    ["a selector", { op: "remove", selector: "li[" }, { code: "INVALID_SELECTOR", index: 1 }],
    ["an entity tag", { op: "test", selector: "li", etag: '"x"' }, { code: "INVALID_EDIT", index: 1 }],
    ["a second step", { op: "move", selector: "b", to: "#a", position: "nowhere" as never }, { code: "INVALID_EDIT" }],
    ["a step of a move", { op: "move", selector: "#b", to: "b", position: "beforeend" }, { code: "INVALID_HTML" }],
  ];

  it.each(failing)("leaves the page as it was where %s of a list fails", (_, edit, expected) => {
    const long = `${list}${"<p>some <i>text</i></p>\n".repeat(500)}`;
    const page = parsePage(long);
    const error = thrownBy(() => page.edit([{ op: "addClass", selector: "#a", class: "two" }, edit]));
    expect(error).toBeInstanceOf(DocumentError);
    expect(error).toMatchObject(expected);
    expect(page.source).toBe(long);
    expect(page.select("#a")[0]?.attributes).toEqual({ id: "a", class: "one" });
    page.edit([{ op: "remove", selector: "p" }]);
    expect(page.select("li")).toHaveLength(2);
  });

  it("takes the number of edits and the length of the page as limits", () => {
    const edits: Edit[] = [{ op: "setText", selector: "#b", text: "x".repeat(1000) }];
    const limited = (limits: PageLimits): unknown => thrownBy(() => parsePage(list, { limits }).edit(edits));
    expect(limited({ maxEdits: 0 })).toMatchObject({ code: "TOO_MANY_EDITS" });
    expect(limited({ maxLength: 500 })).toMatchObject({ code: "RESULT_TOO_LARGE" });
  });

  it("says what it takes where a program gives something else", () => {
    expect(() => parsePage(undefined as never)).toThrow("expected a string or a Uint8Array");
    expect(() => parsePage("", { kind: "svg" as never })).toThrow('expected "html" or "xml"');
    expect(() => parsePage("").select(5 as never)).toThrow("expected a string");
  });

  it("leaves real pages as they are but for the place of the edit", () => {
    for (const { name, bytes } of sample(realPages(), 10)) {
      const page = parsePage(bytes);
      const { source } = page;
      const results = page.edit([{ op: "setAttribute", selector: "body", name: "data-edited", value: "1" }]);
      expect(
        changed(
          source,
          results.flatMap(({ changes }) => changes),
        ),
        name,
      ).toBe(page.source);
      expect(page.select("[data-edited]"), name).toHaveLength(page.select("body").length);
    }
  });
});

describe("a page in slices", () => {
  const long = `${list}${"<p>some <i>text</i></p>\n".repeat(4_000)}`;
  const edits: Edit[] = [{ op: "addClass", selector: "p:nth-child(odd)", class: "odd" }];

  it("is what it is at once, and gives way to others while it is parsed, searched and edited", async () => {
    stepClock();
    const atOnce = parsePage(long);
    const opening = parsePageInSlices(long);
    expect(await turnsUntil(opening)).toBeGreaterThan(10);
    const page = await opening;
    const selecting = page.select("p:nth-child(even):has(i)");
    expect(await turnsUntil(selecting)).toBeGreaterThan(3);
    expect((await selecting).length).toBe(2_000);
    const editing = page.edit(edits);
    expect(await turnsUntil(editing)).toBeGreaterThan(3);
    expect(await editing).toEqual(atOnce.edit(edits));
    expect(page.source).toBe(atOnce.source);
    expect(page.toBytes()).toEqual(atOnce.toBytes());
  });

  it("does one call after the other, also after one that failed", async () => {
    const page = await parsePageInSlices(list);
    const calls = await Promise.allSettled([
      page.edit([{ op: "setText", selector: "#b", text: "1" }]),
      page.edit([{ op: "remove", selector: "p[" }]),
      page.edit([{ op: "insert", selector: "#b", position: "beforeend", html: "2" }]),
      page.select("#b"),
    ]);
    expect(calls.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect(calls[1]).toMatchObject({ reason: { code: "INVALID_SELECTOR", index: 0 } });
    expect(page.source).toContain("<li id=b>12</UL>");
  });

  it("rejects where a page cannot be parsed", async () => {
    await expect(parsePageInSlices("<a>", { kind: "xml" })).rejects.toMatchObject({ code: "NOT_WELL_FORMED" });
  });
});
