import { createHash } from "node:crypto";
import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { describe, expect, test } from "vitest";
import {
  type DirectoryPageContent,
  directoryPage,
  directoryPagePolicy,
  humanSize,
} from "../../src/files/directory-page.ts";
import type { StoredEntry } from "../../src/storage/storage.ts";

const modified = new Date("2025-03-04T05:06:07.089Z");

function file(name: string, size = 5): StoredEntry {
  return { name, type: "file", size, modified, version: "v" };
}

function folder(name: string): StoredEntry {
  return { name, type: "directory", size: 0, modified, version: "d" };
}

function page(entries: readonly StoredEntry[], content: Partial<DirectoryPageContent> = {}): string {
  const order = { column: "name", descending: false } as const;
  return [...directoryPage({ path: "/", site: "example.com", order, entries, ...content })].join("");
}

type Element = DefaultTreeAdapterTypes.Element;

/** Every element of a page as a browser builds it. */
function elementsOf(html: string): Element[] {
  const found: Element[] = [];
  const visit = (node: DefaultTreeAdapterTypes.Node): void => {
    if ("tagName" in node) found.push(node);
    if ("childNodes" in node) node.childNodes.forEach(visit);
  };
  visit(parse(html));
  return found;
}

function linksOf(html: string): { href: string; text: string }[] {
  const anchors = elementsOf(html).filter(({ tagName }) => tagName === "a");
  return anchors.map((anchor) => ({
    href: anchor.attrs.find(({ name }) => name === "href")?.value ?? "",
    text: anchor.childNodes.map((node) => ("value" in node ? node.value : "")).join(""),
  }));
}

describe("a name in a directory page", () => {
  const hostile = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "it's & it's &amp;",
    "two  spaces ",
    "50% #1?.html",
    "%2e%2e%2fup",
    "javascript:alert(1)",
    "//evil.example",
    "näïve 日本 🦊.txt",
    "..hidden",
    "</style><b>",
    "?sort=size",
    "\u202egnp.exe",
  ];

  test.each(hostile)("is shown as it is and leads to itself: %s", (name) => {
    const link = linksOf(page([file(name)])).at(-1);
    expect(link?.text).toBe(name);
    const { origin, pathname, search, hash } = new URL(link?.href ?? "", "http://example.com/docs/here/?sort=name");
    expect(origin).toBe("http://example.com");
    expect(pathname.startsWith("/docs/here/")).toBe(true);
    expect(decodeURIComponent(pathname.slice("/docs/here/".length))).toBe(name);
    expect(search + hash).toBe("");
  });

  test.each(hostile)("adds no element to the page: %s", (name) => {
    const tags = (html: string) => elementsOf(html).map(({ tagName }) => tagName);
    const plain = page([file("plain")], { path: "/plain/plain/", site: "plain" });
    expect(tags(page([file(name)], { path: `/${name.replaceAll("/", "")}/x/`, site: name }))).toEqual(tags(plain));
  });

  test("that holds half a surrogate pair does not break the page", () => {
    expect(linksOf(page([file("a\ud800b")])).at(-1)?.href).toBe("./a%EF%BF%BDb");
  });

  test("of a directory ends in a slash, so that its page needs no redirect", () => {
    expect(linksOf(page([folder("sub dir")])).at(-1)).toEqual({ href: "./sub%20dir/", text: "sub dir/" });
  });
});

describe("a directory page", () => {
  test("leads to every directory above by relative links", () => {
    const links = linksOf(page([], { path: "/a/b & c/d/" })).slice(0, 3);
    expect(links).toEqual([
      { href: "../../../", text: "example.com" },
      { href: "../../", text: "a" },
      { href: "../", text: "b & c" },
    ]);
  });

  test("has no links above the root", () => {
    expect(linksOf(page([]))).toEqual([]);
    expect(page([])).not.toContain("<nav");
  });

  test("says kindly that a directory is empty", () => {
    const html = page([], { path: "/a/b/" });
    expect(html).toContain("There is nothing in this folder yet.");
    expect(html).toContain('<a href="../">Back to a</a>');
    expect(html).not.toContain("<table");
  });

  test("says what is in it", () => {
    expect(page([folder("a"), file("b"), file("c")])).toContain("<caption>1 folder and 2 files</caption>");
    expect(page([file("b")])).toContain("<caption>1 file</caption>");
    expect(page([folder("a"), folder("b")])).toContain("<caption>2 folders</caption>");
  });

  test("gives exact bytes and times beside the short ones", () => {
    const html = page([file("a", 1_234_567)]);
    expect(html).toContain('<data value="1234567" title="1,234,567 bytes">1.2 MB</data>');
    expect(html).toContain('<time datetime="2025-03-04T05:06:07.089Z">2025-03-04<span> 05:06</span></time>');
  });

  test("is a table with headers for its columns and rows, in a main landmark below a heading", () => {
    const tags = elementsOf(page([file("a")], { path: "/x/" }));
    expect(tags.filter(({ tagName }) => tagName === "main")).toHaveLength(1);
    expect(tags.filter(({ tagName }) => tagName === "h1")).toHaveLength(1);
    const scopes = tags.filter(({ tagName }) => tagName === "th").map(({ attrs }) => attrs[0]?.value);
    expect(scopes).toEqual(["col", "col", "col", "row"]);
  });

  test("loads nothing and runs nothing; its only style is the one that its policy admits", () => {
    const html = page([file("a")], { path: "/x/" });
    const elements = elementsOf(html);
    expect(elements.filter(({ tagName }) => ["script", "link", "img", "iframe"].includes(tagName))).toEqual([]);
    expect(elements.flatMap(({ attrs }) => attrs).filter(({ name }) => /^(?:style|src|on.*)$/.test(name))).toEqual([]);
    const style = /<style>([^<]*)<\/style>/.exec(html)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(directoryPagePolicy).toContain(`style-src 'sha256-${hash}'`);
  });

  test("is small", () => {
    expect(page([]).length).toBeLessThan(6000);
  });
});

describe("humanSize", () => {
  test.each([
    [0, "0 B"],
    [1, "1 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [1949, "1.9 kB"],
    [9949, "9.9 kB"],
    [9951, "10 kB"],
    [999_499, "999 kB"],
    [999_500, "1.0 MB"],
    [5_000_000_000, "5.0 GB"],
    [Number.MAX_SAFE_INTEGER, "9.0 PB"],
  ])("says %i bytes as %s", (size, said) => {
    expect(humanSize(size)).toBe(said);
  });
});
