import { describe, expect, it } from "vitest";
import { SourceElement } from "../../../src/html/document/html-nodes.ts";
import {
  endTagsAt,
  firstTagOf,
  insertionPoint,
  nextOf,
  outermost,
  previousOf,
  splice,
  splicedLength,
  treeEdit,
} from "../../../src/html/edit/placement.ts";
import { parseFragment } from "../../../src/html/edit/well-formed.ts";
import { elementsOf } from "../../elements/pages.ts";
import { done } from "../../helpers/done.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

describe("treeEdit", () => {
  it("says what stands where in the edited source", async () => {
    const page = "<p>a</p><i>b</i><u>c</u>";
    const [, , body, p, i, u] = elementsOf(await parseHtml(page));
    if (!body || !p || !i || !u) throw new Error("the page is not as it should be");
    const fragment = await done(parseFragment("<b>x</b>"));
    const placements = [
      { start: 0, end: 8, text: fragment.html, fragment, removes: [p] },
      { start: 8, end: 24, text: "", removes: [i, u] },
      {
        start: 24,
        end: 24,
        text: `-${fragment.html}`,
        fragment,
        fragmentStart: 1,
        adds: { element: body, position: "beforeend" as const },
      },
    ];
    const { instead, added } = treeEdit(placements);
    expect(splice(page, placements)).toBe("<b>x</b>-<b>x</b>");
    expect([...instead]).toEqual([
      [p, { fragment, offset: 0, parent: body }],
      [i, undefined],
      [u, undefined],
    ]);
    expect([...added.beforeend]).toEqual([[body, [{ fragment, offset: 9, parent: body }]]]);
  });
});

describe("splicedLength", () => {
  it("is the length of what splice makes", () => {
    const replacements = [
      { start: 1, end: 3, text: "xyz" },
      { start: 4, end: 4, text: "!" },
    ];
    expect(splicedLength("abcdef", replacements)).toBe(splice("abcdef", replacements).length);
  });
});

describe("splice", () => {
  it("replaces, removes and inserts in one pass", () => {
    const replacements = [
      { start: 0, end: 1, text: "A" },
      { start: 2, end: 2, text: "+" },
      { start: 2, end: 4, text: "" },
      { start: 6, end: 6, text: "!" },
    ];
    expect(splice("abcdef", replacements)).toBe("Ab+ef!");
  });

  it("returns the source where nothing is replaced", () => {
    expect(splice("abc", [])).toBe("abc");
  });

  it("throws for replacements that overlap", () => {
    const replacements = [
      { start: 0, end: 3, text: "" },
      { start: 2, end: 4, text: "" },
    ];
    expect(() => splice("abcdef", replacements)).toThrow(RangeError);
  });
});

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
    expect(firstTagOf(await done(parseFragment("<LI>a<p>")))).toBe("li");
    expect(firstTagOf(await done(parseFragment(" <li>a")))).toBeUndefined();
    expect(firstTagOf(await done(parseFragment("a")))).toBeUndefined();
  });
});

/** The page with a mark where content is added to the first element of a name. */
async function marked(page: string, name: string): Promise<string | undefined> {
  const document = await parseHtml(page);
  const element = elementsOf(document).find((each) => each.name === name);
  const point = element && insertionPoint(document, element);
  return point === undefined ? undefined : `${page.slice(0, point)}^${page.slice(point)}`;
}

describe("insertionPoint", () => {
  it.each([
    ["<p>a</p>", "p", "<p>a^</p>"],
    ["<p>a<div>", "p", "<p>a^<div>"],
    ["<body>a</body></html>", "body", "<body>a^</body></html>"],
    ["<body>a</body></html>", "html", "<body>a^</body></html>"],
    ["a</body></html>\n", "body", "a^</body></html>\n"],
    ["a</body>b\n", "body", "a</body>b\n^"],
    ["a<!--b-->", "body", "a<!--b-->^"],
    ["<p>a</p>", "head", "^<p>a</p>"],
    ["<title>t</title> <p>", "head", "<title>t</title>^ <p>"],
    ["<head></head>", "head", "<head>^</head>"],
    ["", "body", "^"],
  ])("of %j for %s is %j", async (page, name, expected) => {
    expect(await marked(page, name)).toBe(expected);
  });

  it.each([
    ["<br>", "br"],
    ["<table><td>", "tbody"],
    ["<b>1<p>2</b>3</p>", "b"],
    ["<frameset></frameset>", "html"],
  ])("is nowhere in %j for %s", async (page, name) => {
    expect(await marked(page, name)).toBeUndefined();
  });
});
