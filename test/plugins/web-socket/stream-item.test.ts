import { type DefaultTreeAdapterMap, parseFragment, serialize } from "parse5";
import { describe, expect, it } from "vitest";
import { streamItems } from "../../../src/plugins/web-socket/stream-item.ts";
import type { Change } from "../../../src/server/change-feed.ts";

type Element = DefaultTreeAdapterMap["element"];

/** The microdata of an item, as a browser reads it: of a template its content, as HTML. */
function microdata(html: string): Record<string, string> {
  const [item, ...others] = parseFragment(html).childNodes as Element[];
  expect(others).toEqual([]);
  const attribute = (element: Element | undefined, name: string): string =>
    element?.attrs.find((each) => each.name === name)?.value ?? "";
  const properties = ((item?.childNodes ?? []) as Element[]).map((element) => [
    `${attribute(element, "itemprop")}${"content" in element ? " markup" : ""}`,
    "content" in element
      ? serialize((element as DefaultTreeAdapterMap["template"]).content)
      : element.childNodes.map((node) => ("value" in node ? node.value : "")).join(""),
  ]);
  return { type: attribute(item, "itemtype"), ...Object.fromEntries(properties) };
}

function change(properties: Partial<Change>): Change {
  const base = { id: 1, kind: "elements-replaced", method: "PUT", host: "h", requestId: "r", time: "" } as const;
  return { ...base, path: "/a.html", ...properties } as Change;
}

/** The one item that tells of a change. */
function itemOf(properties: Partial<Change>): string {
  const [item = "", ...others] = streamItems(change(properties));
  expect(others).toEqual([]);
  return item;
}

const type = "http://rustybeam.net/StreamItem";

describe("streamItems", () => {
  it("has method, url, selector and content, which is markup", () => {
    const html = "<li>one</li>";
    expect(itemOf({ selector: "#todo li", html })).toBe(
      `<div itemscope itemtype="${type}"><span itemprop="method">PUT</span><span itemprop="url">/a.html</span>` +
        '<span itemprop="selector">#todo li</span><template itemprop="content"><li>one</li></template></div>',
    );
  });

  it("has the selector of what was deleted, and leaves out what a change does not have", () => {
    const method = "DELETE";
    expect(microdata(itemOf({ method }))).toEqual({ type, method, url: "/a.html" });
    expect(microdata(itemOf({ method, selector: "#a" }))).toMatchObject({ method, selector: "#a" });
  });

  it.each([
    "<tr><td>1</td></tr>",
    '<option selected="">1</option>',
    "<p title=\"a > b\">one <b class='x'>two</b> & three</p>",
    "<!-- a comment --><br>text",
    "<script>if (a < b && c) alert('</p>')</script>",
    "<style>a::before { content: '<b>' }</style><textarea></div></textarea>",
    '<svg viewBox="0 0 1 1"><path d="M0 0"></path></svg>',
    "\u{1f389} é \u00a0 \u2028",
  ])("keeps markup what it is: %j", (html) => {
    const read = microdata(itemOf({ html }));
    const wanted = serialize(parseFragment(`<template>${html}</template>`)).slice(
      "<template>".length,
      -"</template>".length,
    );
    expect(read).toEqual({ type, method: "PUT", url: "/a.html", "content markup": wanted });
  });

  it.each([
    "</template></div><img src=x onerror=alert(1)>",
    "<template><p></p></template>",
    "if (a < b) c('<!-- ')",
    "a { } /* </style> */ <!--",
    "<script>open",
    "<script><!-- <script></script>",
    "<p title='open",
    '<a href="x"onclick="y">',
    "<plaintext>",
    "<![CDATA[ ]]>",
    "<",
  ])("keeps what could leave its place as text: %j", (html) => {
    expect(microdata(itemOf({ html }))).toEqual({ type, method: "PUT", url: "/a.html", content: html });
  });

  it.each(["one\r\ntwo\rthree\nfour\n", "</span></div><img src=x onerror=alert(1)>"])(
    "keeps every character of a selector: %j",
    (selector) => {
      expect(microdata(itemOf({ selector }))).toMatchObject({ selector });
    },
  );

  it("spells the path as a URL", () => {
    expect(microdata(itemOf({ path: '/ä "b"?#.html' }))).toMatchObject({ url: "/%C3%A4%20%22b%22%3F%23.html" });
  });

  it("are one for each edit of a list, in order, under one request id", () => {
    const edits: NonNullable<Change["edits"]> = [
      { op: "replace", selector: "#a", html: "<i>a</i>", matches: 1 },
      { op: "insert", position: "beforeend", selector: "ul", html: "<li>b", matches: 1 },
      { op: "remove", selector: "p", matches: 2 },
      { op: "move", selector: "#c", to: "ul", position: "afterbegin", matches: 1 },
      { op: "setText", selector: "b", text: "<", matches: 1 },
    ];
    const items = streamItems(change({ kind: "elements-edited", method: "PATCH", edits }));
    const of = { type, url: "/a.html", requestId: "r" };
    expect(items.map(microdata)).toEqual([
      { ...of, method: "PUT", selector: "#a", "content markup": "<i>a</i>" },
      { ...of, method: "POST", selector: "ul", "content markup": "<li>b</li>" },
      { ...of, method: "DELETE", selector: "p" },
      { ...of, method: "PATCH", selector: "#c", op: "move", to: "ul", position: "afterbegin" },
      { ...of, method: "PATCH", selector: "b", op: "setText", text: "<" },
    ]);
  });
});
