import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { AnnouncedElements } from "../../src/elements/announced-elements.ts";
import type { FileServer } from "../../src/file-server.ts";
import { ParseBudget } from "../../src/html/document/parse-budget.ts";
import type { Edit, InsertPosition } from "../../src/html/edit/edits.ts";
import { serveOne, wholePage } from "./editing.ts";

const type = "application/vnd.filement.edits+json";

interface Patched {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Record<string, unknown>;
  readonly page: string;
}

async function patch(files: FileServer, edits: unknown, headers: Record<string, string> = {}): Promise<Patched> {
  const body = typeof edits === "string" ? edits : JSON.stringify(edits);
  const init = { method: "PATCH", headers: { "content-type": type, ...headers }, body };
  const reply = await files.fetch(new Request("http://localhost/page.html", init));
  const text = await reply.text();
  const json = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: reply.status, headers: reply.headers, text, json, page: (await wholePage(files)).toString() };
}

function site(page: string | Uint8Array, config: FileServerConfig = {}): FileServer {
  const files = serveOne(page, config);
  onTestFinished(() => files.close());
  return files;
}

async function pageAfter(page: string, ...edits: Edit[]): Promise<string> {
  const patched = await patch(site(page), edits);
  expect([patched.status, patched.json["code"], patched.json["details"]]).toEqual([200, undefined, undefined]);
  return patched.page;
}

const insert = (selector: string, position: InsertPosition, html: string): Edit => {
  return { op: "insert", selector, position, html };
};
const setText = (selector: string, text: string): Edit => ({ op: "setText", selector, text });
const setAttribute = (selector: string, name: string, value: string): Edit => {
  return { op: "setAttribute", selector, name, value };
};
const move = (selector: string, to: string, position: InsertPosition): Edit => ({ op: "move", selector, to, position });

const list = "<ul><li id=a class='x y'>A</li>\n<li id=b>B</li></ul><p>";

describe("the operations", () => {
  it.each<[string, string, string, Edit]>([
    ["replace", "<b>x</b>", "<i>y</i>", { op: "replace", selector: "b", html: "<i>y</i>" }],
    ["insert before", "<b>x</b>", "<i>y</i><b>x</b>", insert("b", "beforebegin", "<i>y</i>")],
    ["insert first", "<b>x</b>", "<b>yx</b>", insert("b", "afterbegin", "y")],
    ["insert last", "<b>x</b>", "<b>xy</b>", insert("b", "beforeend", "y")],
    ["insert behind", "<b>x</b>", "<b>x</b>y", insert("b", "afterend", "y")],
    ["insert before what closes", "<li>a<li id=b>b", "<li>a</li>x<li id=b>b", insert("#b", "beforebegin", "x")],
    ["insert behind what is open", "<ul><li id=a>a</ul>", "<ul><li id=a>a</li>x</ul>", insert("#a", "afterend", "x")],
    [
      "move what has no end tag",
      "<ul><li>a<li>b</ul><p>c<ol></ol>",
      "<ul></ul><ol><li>a</li><li>b</li><p>c</p></ol>",
      move("li, p", "ol", "beforeend"),
    ],
    ["insert behind the first line", "<pre>\nx</pre>", "<pre>\nyx</pre>", insert("pre", "afterbegin", "y")],
    ["insert into what closes itself", "<svg><g/></svg>", "<svg><g><a/></g></svg>", insert("g", "afterbegin", "<a/>")],
    ["remove", "a<b>x</b>c", "ac", { op: "remove", selector: "b" }],
    ["move", "<b>x</b><i>y</i>", "<i>y</i><b>x</b>", move("b", "i", "afterend")],
    ["move several", "<b>1</b><u><b>2</b></u><i>y", "<u></u><i><b>1</b><b>2</b>y", move("b", "i", "afterbegin")],
    ["move what is open", "<ul><li>a<li id=b>b</ul>", "<ul><li id=b>b</li><li>a</ul>", move("#b", "ul", "afterbegin")],
    ["setContent", "<b>x<i>z</i></b>", "<b>y</b>", { op: "setContent", selector: "b", html: "y" }],
    ["setContent to nothing", "<b>x</b>", "<b></b>", { op: "setContent", selector: "b", html: "" }],
    ["setText", "<b>x</b>", "<b>1 &lt; 2 &amp; 3</b>", setText("b", "1 < 2 & 3")],
    ["setText of a script", "<script>x</script>", "<script>1 < 2 && 3</script>", setText("script", "1 < 2 && 3")],
    ["setText of a title", "<title>x</title>", "<title>a &lt; b</title>", setText("title", "a < b")],
    ["setAttribute", "<b  a='1' c=2>x</b>", "<b  a='1' c=3>x</b>", setAttribute("b", "c", "3")],
    ["setAttribute with blanks", "<b c=2>x</b>", '<b c="3 &quot;4">x</b>', setAttribute("b", "C", '3 "4')],
    ["setAttribute in its quotes", "<b c = '2'>x</b>", "<b c = '&#39;\"'>x</b>", setAttribute("b", "c", "'\"")],
    ["setAttribute that had no value", "<b c d>x</b>", '<b c="1" d>x</b>', setAttribute("b", "c", "1")],
    ["setAttribute anew", "<br id=a/>", '<br id=a/ href="/">', setAttribute("br", "href", "/")],
    ["removeAttribute", "<b  a  c=2 d>x", "<b  a d>x", { op: "removeAttribute", selector: "b", name: "c" }],
    [
      "removeAttribute without blanks",
      `<b a="1"c="2">x</b>`,
      `<b c="2">x</b>`,
      { op: "removeAttribute", selector: "b", name: "a" },
    ],
    [
      "removeAttribute that is there twice",
      "<b a=1 c a=2>x</b>",
      "<b c>x</b>",
      { op: "removeAttribute", selector: "b", name: "a" },
    ],
    ["addClass", "<b class='x  y'>", "<b class='x  y z'>", { op: "addClass", selector: "b", class: "y z" }],
    ["addClass anew", "<b>", '<b class="z">', { op: "addClass", selector: "b", class: "z" }],
    ["removeClass", "<b class='x  y z'>", "<b class='x  z'>", { op: "removeClass", selector: "b", class: "y" }],
    ["removeClass at the end", "<b class='x y'>", "<b class='x'>", { op: "removeClass", selector: "b", class: "y" }],
    ["removeClass that is not there", "<b class=x>", "<b class=x>", { op: "removeClass", selector: "b", class: "y" }],
    ["test", "<b>x</b>", "<b>x</b>", { op: "test", selector: "b", matches: 1 }],
  ])("%s: %s becomes %s", async (_, before, after, edit) => {
    const end = before.includes("</") || before.startsWith("<br") ? "" : "x</b>";
    expect(await pageAfter(before + end, edit)).toBe(after + end);
  });

  it("keep all bytes of the tag but those of the attribute", async () => {
    const page = await pageAfter(
      list,
      { op: "addClass", selector: "#a", class: "z" },
      setAttribute("#b", "title", "é"),
    );
    expect(page).toBe(`<ul><li id=a class='x y z'>A</li>\n<li id=b title="é">B</li></ul><p>`);
  });

  it("work in XML", async () => {
    const files = site("<p>");
    await files.fetch(new Request("http://localhost/a.svg", { method: "PUT", body: "<svg><g a='1'/><h/></svg>" }));
    const edits: Edit[] = [
      setAttribute("g", "viewBox", "<\n'"),
      insert("g", "beforebegin", "<k/>"),
      setText("h", "<&"),
      move("k", "h", "beforeend"),
    ];
    const init = { method: "PATCH", headers: { "content-type": "application/json" }, body: JSON.stringify(edits) };
    expect((await files.fetch(new Request("http://localhost/a.svg", init))).status).toBe(200);
    expect(await (await files.fetch("/a.svg")).text()).toBe(
      `<svg><g a='1' viewBox="&lt;&#10;'"/><h>&lt;&amp;<k/></h></svg>`,
    );
  });
});

describe("a list", () => {
  const edits: Edit[] = [
    setText("#a", "1"),
    insert("li", "afterend", "<li>new"),
    { op: "remove", selector: "li:nth-child(2)" },
    { op: "test", selector: "li", matches: 3 },
  ];
  const [first] = edits;

  it("is made in order, each edit in the page that those before have left, and announced once", async () => {
    const files = site(list);
    const changes: unknown[] = [];
    files.changes.subscribe(({ kind, edits, etag }) => changes.push({ kind, edits, etag }));
    const { status, headers, json, page } = await patch(files, edits);
    expect(page).toBe("<ul><li id=a class='x y'>1</li>\n<li id=b>B</li><li>new</li></ul><p>");
    const etag = headers.get("etag");
    expect([status, json]).toEqual([200, { etag, edits: [1, 2, 1, 3].map((matches) => ({ matches })) }]);
    const told = edits.slice(0, 3).map((edit, index) => ({ ...edit, matches: [1, 2, 1][index] }));
    expect(changes).toEqual([{ kind: "elements-edited", edits: told, etag }]);
    expect((await files.fetch("/page.html")).headers.get("etag")).toBe(etag);
  });

  it("without anything to do changes and announces nothing", async () => {
    const files = site(list);
    const changes: unknown[] = [];
    files.changes.subscribe((change) => changes.push(change));
    const { json, page } = await patch(files, [
      { op: "remove", selector: "i" },
      { op: "test", selector: "li" },
    ]);
    expect([json["edits"], page, changes]).toEqual([[{ matches: 0 }, { matches: 2 }], list, []]);
    expect((await patch(files, [])).json["edits"]).toEqual([]);
  });

  it.each<[number, string, number | undefined, unknown]>([
    [400, "INVALID_EDIT", undefined, "no JSON"],
    [400, "INVALID_EDIT", undefined, {}],
    [400, "INVALID_EDIT", 0, [null]],
    [400, "INVALID_EDIT", 0, [{ op: "constructor", selector: "b" }]],
    [400, "INVALID_EDIT", 1, [first, { op: "replace", selector: "b" }]],
    [400, "INVALID_EDIT", 0, [{ op: "remove", selector: "b", html: "x" }]],
    [400, "INVALID_EDIT", 0, [{ op: "remove", selector: "b", matches: -1 }]],
    [400, "INVALID_EDIT", 0, [setText("b", "\ud800")]],
    [400, "INVALID_EDIT", 0, [setText("b", "a\u0000")]],
    [400, "INVALID_EDIT", 0, [{ op: "addClass", selector: "b", class: " " }]],
    [400, "INVALID_EDIT", 1, [first, setAttribute("li", "a b", "")]],
    [400, "INVALID_EDIT", 0, [insert("b", "inside" as never, "")]],
    [400, "TOO_MANY_EDITS", undefined, Array(5).fill(edits[0])],
    [400, "INVALID_SELECTOR", 1, [first, { op: "remove", selector: "b:" }]],
    [400, "INVALID_HTML", 1, [first, { op: "replace", selector: "li", html: "<b>" }]],
    [400, "INVALID_HTML", 1, [first, { op: "setContent", selector: "p", html: "<div></div>" }]],
    [400, "INVALID_TARGET", 1, [first, { op: "remove", selector: "body" }]],
    [400, "INVALID_TARGET", 1, [first, insert("html", "afterend", "x")]],
    [400, "INVALID_TARGET", 1, [first, { op: "setContent", selector: "html", html: "x" }]],
    [400, "INVALID_TARGET", 1, [first, move("li", "li", "afterend")]],
    [400, "INVALID_TARGET", 1, [first, move("ul", "#a", "afterend")]],
    [400, "INVALID_TARGET", 1, [first, move("ul", "ul", "beforeend")]],
    [400, "INVALID_TARGET", 1, [insert("ul", "afterend", "<script></script>"), move("ul", "script", "beforeend")]],
    [412, "EDIT_PRECONDITION_FAILED", 1, [first, { op: "test", selector: "li", matches: 3 }]],
    [412, "EDIT_PRECONDITION_FAILED", 1, [first, { op: "remove", selector: "li", matches: 1 }]],
    [412, "EDIT_PRECONDITION_FAILED", 1, [first, { op: "remove", selector: "li", etag: '"x"' }]],
  ])(
    "that cannot be made is %i %s, says which edit it was (%s), and leaves page, tag and feed: %j",
    async (...given) => {
      const [status, code, index, sent] = given;
      const files = site(list, { maxEdits: 4 });
      const changes: unknown[] = [];
      files.changes.subscribe((change) => changes.push(change));
      const etag = (await files.fetch("/page.html")).headers.get("etag");
      const answer = await patch(files, sent);
      expect([answer.status, answer.json["code"], answer.json["index"]]).toEqual([status, code, index]);
      expect([answer.page, changes]).toEqual([list, []]);
      expect((await files.fetch("/page.html")).headers.get("etag")).toBe(etag);
    },
  );

  it("names in its only edit what is wrong, too", async () => {
    const { json } = await patch(site(list), [{ op: "test", selector: "li", matches: 3 }]);
    expect(json["index"]).toBe(0);
  });

  it("is made by the tag of elements, as a GET tells it", async () => {
    const files = site(list);
    const tagOf = async () =>
      (await files.fetch(new Request("http://localhost/page.html", { headers: { range: "selector=#a" } }))).headers.get(
        "etag",
      );
    const etag = await tagOf();
    const edit = { op: "setText", selector: "#a", text: "1", etag };
    expect((await patch(files, [edit])).status).toBe(200);
    expect((await patch(files, [edit])).status).toBe(412);
    expect((await patch(files, [{ ...edit, etag: await tagOf() }])).status).toBe(200);
  });

  it("goes by If-Match of the document", async () => {
    const files = site(list);
    const etag = (await files.fetch("/page.html")).headers.get("etag") ?? "";
    expect((await patch(files, edits, { "if-match": etag })).status).toBe(200);
    const late = await patch(files, edits, { "if-match": etag });
    expect([late.status, late.json["code"]]).toEqual([412, "PRECONDITION_FAILED"]);
  });

  it.each([["text/html"], [""], ["application/jsonp"]])(
    "of the type %j is 415, which says what is taken",
    async (contentType) => {
      const files = site(list);
      const answer = await patch(files, edits, { "content-type": contentType });
      expect([answer.status, answer.json["code"]]).toEqual([415, "UNSUPPORTED_TYPE"]);
      expect(answer.headers.get("accept-patch")).toBe(`${type}, application/json`);
      const options = await files.fetch(new Request("http://localhost/page.html", { method: "OPTIONS" }));
      expect(options.headers.get("accept-patch")).toBe(`${type}, application/json`);
    },
  );

  it("may be compact JSON with parameters of its type", async () => {
    expect((await patch(site(list), edits, { "content-type": "Application/JSON; charset=utf-8" })).status).toBe(200);
  });

  it("is answered as the client prefers", async () => {
    const minimal = await patch(site(list), edits, { prefer: "return=minimal" });
    expect([minimal.status, minimal.text, minimal.headers.get("preference-applied")]).toEqual([
      204,
      "",
      "return=minimal",
    ]);
    expect(minimal.headers.get("etag")).not.toBeNull();
    const page = await patch(site(list), edits, { prefer: "return=representation" });
    expect([page.status, page.text, page.headers.get("content-type")]).toEqual([
      200,
      page.page,
      "text/html; charset=utf-8",
    ]);
    const range = { prefer: "return=representation", range: "selector=#a" };
    const files = site(list);
    const part = await patch(files, edits, range);
    expect([part.status, part.text, part.headers.get("content-range")]).toEqual([
      206,
      "<li id=a class='x y'>1</li>",
      "selector #a",
    ]);
    const read = await files.fetch(new Request("http://localhost/page.html", { headers: { range: "selector=#a" } }));
    expect(part.headers.get("etag")).toBe(read.headers.get("etag"));
    expect((await patch(files, [], { ...range, range: "selector=i" })).status).toBe(204);
  });

  it.each([
    { range: "selector=#a" },
    { range: "bytes=0-1", prefer: "return=representation" },
    { "x-range-unit": "selector" },
  ])("with a range that says nothing is 400: %j", async (headers) => {
    const answer = await patch(site(list), edits, headers as Record<string, string>);
    expect([answer.status, answer.page]).toEqual([400, list]);
  });

  it("is for documents that are there", async () => {
    const files = site(list);
    await files.fetch(new Request("http://localhost/a.txt", { method: "PUT", body: "x" }));
    const ask = async (path: string, encoding?: string) => {
      const headers = { "content-type": type, ...(encoding && { "content-encoding": encoding }) };
      const reply = await files.fetch(new Request(`http://localhost${path}`, { method: "PATCH", headers, body: "[]" }));
      return [reply.status, ((await reply.json()) as { code?: string }).code];
    };
    expect(await ask("/a.txt")).toEqual([416, "NOT_HTML"]);
    expect(await ask("/none.html")).toEqual([404, "NOT_FOUND"]);
    expect(await ask("/")).toEqual([404, "NOT_FOUND"]);
    expect(await ask("/page.html", "gzip")).toEqual([415, "UNSUPPORTED_ENCODING"]);
  });

  it("is a write: not taken with readOnly, nor beside others unless it is named", async () => {
    const refused = await patch(site(list, { readOnly: true }), edits);
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    const beside = new Request("http://localhost/page.html", { method: "PATCH", body: "[]" });
    expect(await site(list, { fallthrough: true }).fetch(beside)).toBeUndefined();
    expect((await patch(site(list, { fallthrough: true, methods: ["GET", "PATCH"] }), edits)).status).toBe(200);
    const crossSite = await patch(site(list), edits, { "sec-fetch-site": "cross-site" });
    expect([crossSite.status, crossSite.json["code"]]).toEqual([403, "CROSS_SITE"]);
  });

  it("is shown to beforeWrite once, which may refuse it or put other edits in its place", async () => {
    const seen: unknown[] = [];
    const files = site(list, {
      beforeWrite(write) {
        if (write.kind !== "elements-edited") return undefined;
        seen.push(write.edits);
        return write.edits.map((edit) => (edit.op === "setText" ? { ...edit, text: edit.text.toUpperCase() } : edit));
      },
    });
    const { page, json } = await patch(files, [setText("#a", "one")]);
    expect([page.includes(">ONE<"), json["edits"], seen]).toEqual([true, [{ matches: 1 }], [[setText("#a", "one")]]]);
  });

  it("takes no more work than one request may", async () => {
    const many = Array(500).fill(setText("i:not(b > i):not(u > i)", ""));
    const files = site(`<p>${"<i>x</i>".repeat(1000)}`, { maxSelectionSteps: 20_000 });
    expect((await patch(files, many.slice(0, 2))).status).toBe(200);
    expect(await patch(files, many)).toMatchObject({ status: 503, json: { code: "SELECTOR_TOO_COSTLY" } });
    const small = site("<p>x", { maxParseSteps: 1000 });
    expect(await patch(small, Array(400).fill(setText("p", "xy")))).toMatchObject({
      status: 422,
      json: { code: "DOCUMENT_TOO_COSTLY" },
    });
  });

  it("keeps the bytes of a page that is not UTF-8, also of what it moves", async () => {
    const files = site(Buffer.from("<p>\xe9</p><i>\xff</i>", "latin1"));
    expect((await patch(files, [move("p", "i", "afterend")])).status).toBe(200);
    expect((await wholePage(files)).toString("latin1")).toBe("<i>\xff</i><p>\xe9</p>");
    expect((await patch(files, [setText("p", "é")])).json["code"]).toBe("NOT_UTF8");
    const last = [{ op: "remove", selector: "i" } as const, setText("p", "a"), setText("p", "é")];
    expect((await patch(files, last)).page).toBe("<p>é</p>");
  });
});

describe("edits that have nothing to do with each other", () => {
  const cells = Array.from({ length: 100 }, (_, index) => `<td id=c${index} class=x>${index}</td>`);
  const table = `<table><tr>${cells.join("")}</table>`;

  it("are parsed and proven together", async () => {
    const parse = vi.spyOn(ParseBudget.prototype, "takeOver");
    onTestFinished(() => parse.mockRestore());
    const edits = cells.map((_, index) => ({ op: "setText", selector: `#c${index}`, text: "new" }));
    const { json, page } = await patch(site(table + "<p>x</p>".repeat(500)), edits);
    expect([json["edits"], page.match(/>new</g)?.length, parse.mock.calls.length]).toEqual([
      edits.map(() => ({ matches: 1 })),
      100,
      1,
    ]);
  });

  it.each<[string, Edit[], string]>([
    ["what was added is found", [insert("#a", "afterend", "<li id=n>"), setText("#n", "1")], "<li id=n>1</li>"],
    ["what has gone is not", [{ op: "setContent", selector: "ul", html: "" }, setText("#a", "1")], "<ul></ul>"],
    [
      "a class that was added counts",
      [{ op: "addClass", selector: "#b", class: "k" }, setText(".k", "1")],
      '<li id=b class="k">1</li>',
    ],
    [
      "so does one that was taken away",
      [
        { op: "removeClass", selector: "#a", class: "x" },
        { op: "remove", selector: ".x" },
      ],
      "<li id=a class='y'>A</li>",
    ],
    ["places are counted anew", [{ op: "remove", selector: "#a" }, setText("li:first-child", "1")], "<li id=b>1</li>"],
    ["neighbours keep their order", [insert("#a", "afterend", "1"), insert("#a", "afterend", "2")], "</li>21\n"],
    ["set back", [setAttribute("#b", "u", "1"), { op: "removeAttribute", selector: "#b", name: "u" }], "<li id=b>"],
    ["a tag is changed twice", [setAttribute("#b", "u", "1"), setAttribute("#b", "v", "2")], '<li id=b u="1" v="2">'],
  ])("and others are made one after the other: %s", async (_, edits, expected) => {
    expect(await pageAfter(list, ...edits)).toContain(expected);
  });
});

it("refuses fields that no edit has before it reads their JSON", async () => {
  const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [n, 1]));
  expect((await patch(site(list), [fields])).json["code"]).toBe("TOO_MANY_EDITS");
});

it("holds none of the pages between its edits", async () => {
  setFlagsFromString("--expose-gc");
  const pages: WeakRef<object>[] = [];
  const { judgeAfter } = AnnouncedElements.prototype;
  onTestFinished(() => void Object.assign(AnnouncedElements.prototype, { judgeAfter }));
  AnnouncedElements.prototype.judgeAfter = function (applied, ...others) {
    if (applied) pages.push(new WeakRef(applied.document));
    return judgeAfter.call(this, applied, ...others);
  };
  let held = 0;
  const beforeWrite = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve)); // a WeakRef holds its target to the end of the turn
    runInNewContext("gc")();
    held = pages.filter((page) => page.deref()).length;
  };
  const edits = Array.from({ length: 10 }, (_, n) => setText("#a", `${n}`));
  expect((await patch(site(list, { beforeWrite }), edits)).status).toBe(200);
  expect([pages.length, held]).toEqual([10, 1]);
});
