import { createHash } from "node:crypto";
import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { describe, expect, test } from "vitest";
import {
  type DirectoryPageContent,
  directoryPage,
  directoryPagePolicy,
  humanSize,
} from "../../src/files/directory-page.ts";
import { rowsOfGroup } from "../../src/files/directory-page-style.ts";
import type { ListedEntry } from "../../src/files/visible-entries.ts";
import { contentTypeTable } from "../../src/http/content-type.ts";

const modified = new Date("2025-03-04T05:06:07.089Z");

function file(name: string, size = 5): ListedEntry {
  return { name, type: "file", stat: { type: "file", size, modified, version: "v" } };
}

function folder(name: string): ListedEntry {
  return { name, type: "directory", stat: { type: "directory", size: 0, modified, version: "d" } };
}

interface Shown extends Partial<DirectoryPageContent> {
  readonly path?: string;
  readonly site?: string;
  /** Whether all but `/b` may be changed. */
  readonly mayEdit?: boolean;
}

/** The page of a directory that holds these, or of the part that `selected` says. */
async function page(shown: readonly ListedEntry[], content: Shown = {}): Promise<string> {
  const query = { order: { column: "name", descending: false }, limit: undefined, after: undefined } as const;
  const files = shown.filter(({ type }) => type === "file").length;
  const selected = { names: shown, before: 0, directories: shown.length - files, files };
  async function* entries(): AsyncGenerator<readonly ListedEntry[]> {
    for (const entry of shown) yield [entry];
  }
  const { path = "/", site: title = "example.com", mayEdit: edit = false } = content;
  const exchange = {
    access: { permitsPath: (_right: string, target: string) => target !== "/b", refusal: () => ({ status: 403 }) },
    site: { options: { methods: ["PUT", "DELETE"] } },
  };
  const request = { exchange, path, options: { title, listing: { edit } }, contentTypeOf: contentTypeTable({}) };
  let html = "";
  for await (const piece of directoryPage(request as never, { query, selected, entries: entries(), ...content })) {
    html += piece;
  }
  return html;
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

  test.each(hostile)("is shown as it is, leads to itself, and adds no element to the page: %s", async (name) => {
    const link = linksOf(await page([file(name)])).at(-1);
    expect(link?.text).toBe(name.replace("\u202e", "[U+202E]"));
    const { origin, pathname, search, hash } = new URL(link?.href ?? "", "http://example.com/docs/here/?sort=name");
    expect(origin).toBe("http://example.com");
    expect(pathname.startsWith("/docs/here/")).toBe(true);
    expect(decodeURIComponent(pathname.slice("/docs/here/".length))).toBe(name);
    expect(search + hash).toBe("");

    const tags = (html: string) => elementsOf(html).map(({ tagName }) => tagName);
    const plain = await page([file("plain")], { path: "/plain/plain/", site: "plain" });
    const path = `/${name.replaceAll("/", "")}/x/`;
    expect(tags(await page([file(name)], { path, site: name }))).toEqual(tags(plain));
  });

  test("shows controls of the direction of text instead of obeying them, wherever it stands", async () => {
    const name = "photo-\u202egpj.exe \u2066\u2069\u200e\u200f\u061c";
    const html = await page([file(name)], { path: `/${name}/${name}/`, site: name });
    expect(html).not.toMatch(/\p{Bidi_Control}/u);
    expect(
      html.match(/photo-\[U\+202E\]gpj\.exe \[U\+2066\]\[U\+2069\]\[U\+200E\]\[U\+200F\]\[U\+061C\]/g),
    ).toHaveLength(7);
  });

  test("may hold half a surrogate pair; of a directory it ends in a slash, so that its page needs no redirect", async () => {
    expect(linksOf(await page([file("a\ud800b")])).at(-1)?.href).toBe("./a%EF%BF%BDb");
    expect(linksOf(await page([folder("sub dir")])).at(-1)).toEqual({ href: "./sub%20dir/", text: "sub dir/" });
  });
});

describe("a directory page", () => {
  test("leads to every directory above by relative links, and above the root to none", async () => {
    const links = linksOf(await page([], { path: "/a/b & c/d/" })).slice(0, 3);
    expect(links).toEqual([
      { href: "../../../", text: "example.com" },
      { href: "../../", text: "a" },
      { href: "../", text: "b & c" },
    ]);
    expect(linksOf(await page([]))).toEqual([]);
    expect(await page([])).not.toContain("<nav");
  });

  test("says kindly that a directory is empty", async () => {
    const html = await page([], { path: "/a/b/" });
    expect(html).toContain("There is nothing in this folder yet.");
    expect(html).toContain('<a href="../">Back to a</a>');
    expect(html).not.toContain("<table");
  });

  test("says what is in it, and how large several files are together", async () => {
    const three = await page([folder("a"), file("b", 1500), file("c", 500)]);
    expect(three).toContain("<caption>1 folder and 2 files</caption>");
    expect(three).toContain('<data value="2000"');
    const one = await page([file("b", 1500)]);
    expect(one).toContain("<caption>1 file</caption>");
    expect(one).not.toContain("Together");
    expect(await page([folder("a"), folder("b")])).toContain("<caption>2 folders</caption>");
  });

  test("says which part of a long directory it shows, and links to the others in the same order", async () => {
    const query = { order: { column: "size", descending: true }, limit: 2, after: file("a") } as const;
    const selected = { names: [file("b&c"), file("d")], before: 1234, directories: 234, files: 2000 };
    const html = await page([file("d"), file("b&c")], { query, selected });
    expect(html).toContain(
      "<caption>234 folders and 2,000 files; this page shows 1,235 to 1,236 and sorts only these</caption>",
    );
    const links = linksOf(html);
    expect(links.slice(0, 2)).toEqual([
      { href: "?limit=2&sort=size&order=desc", text: "First page" },
      { href: "?limit=2&after=d&sort=size&order=desc", text: "Next page" },
    ]);
    expect(links.slice(-2)).toEqual(links.slice(0, 2));
    expect(links.slice(2, 5).map(({ href }) => href)).toEqual([
      "?limit=2&after=a&sort=name&order=asc",
      "?limit=2&after=a&sort=size&order=asc",
      "?limit=2&after=a&sort=modified&order=desc",
    ]);
  });

  test("says that nothing comes after the last entry", async () => {
    const html = await page([], { selected: { names: [], before: 3, directories: 1, files: 2 } });
    expect(html).toContain("<caption>1 folder and 2 files; none of them on this page</caption>");
    expect(linksOf(html)[0]).toEqual({ href: "./", text: "First page" });
  });

  test("gives exact bytes and times beside the short ones", async () => {
    const html = await page([file("a", 1_234_567)]);
    expect(html).toContain('<data value="1234567" title="1,234,567 bytes">1.2 MB</data>');
    expect(html).toContain('<time datetime="2025-03-04T05:06:07.089Z">2025-03-04 05:06</time>');
  });

  test("has its rows in groups, which a browser can leave out while they are out of view, and few elements in each", async () => {
    const pageOf = async (count: number): Promise<string> => {
      return page(Array.from({ length: count }, (_, index) => file(`${index}.txt`)));
    };
    const elements = elementsOf(await pageOf(2 * rowsOfGroup + 1));
    const groups = elements.filter(({ tagName }) => tagName === "tbody");
    const rows = groups.map(({ childNodes }) => childNodes.filter(({ nodeName }) => nodeName === "tr").length);
    expect(rows).toEqual([rowsOfGroup, rowsOfGroup, 1]);
    expect((await pageOf(rowsOfGroup)).match(/<tbody>/g)).toHaveLength(1);
    const perRow = (elements.length - elementsOf(await pageOf(rowsOfGroup + 1)).length - 1) / rowsOfGroup;
    expect(perRow).toBe("tr th a td data td time".split(" ").length);
  });

  test("is a table with headers for its columns and rows, in a main landmark below a heading", async () => {
    const tags = elementsOf(await page([file("a")], { path: "/x/" }));
    expect(tags.filter(({ tagName }) => tagName === "main")).toHaveLength(1);
    expect(tags.filter(({ tagName }) => tagName === "h1")).toHaveLength(1);
    const scopes = tags.filter(({ tagName }) => tagName === "th").map(({ attrs }) => attrs[0]?.value);
    expect(scopes).toEqual(["col", "col", "col", "row"]);
  });

  test("loads one module of this server and nothing else; its only style is the one that its policy admits", async () => {
    const html = await page([file("a")], { path: "/x/" });
    const elements = elementsOf(html);
    expect(elements.filter(({ tagName }) => ["img", "iframe"].includes(tagName))).toEqual([]);
    expect(html.match(/<link [^>]*href="data:[^ "]+"/g)).toHaveLength(1);
    expect(elements.flatMap(({ attrs }) => attrs).filter(({ name }) => /^(?:style|src|on.*)$/.test(name))).toEqual([
      { name: "src", value: "../.well-known/filement/listing.js" },
    ]);
    const style = /<style>([^<]*)<\/style>/.exec(html)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(directoryPagePolicy).toContain(`style-src 'sha256-${hash}'`);
  });

  test("is small", async () => {
    expect((await page([])).length).toBeLessThan(7500);
  });
});

describe("an entry of a directory page", () => {
  test("has a picture by its kind", async () => {
    const names = ["a.png", "a.mp3", "a.mp4", "a.txt", "a.json", "a.html", "a.pdf", "a.zip", "a.bin"];
    const html = await page([folder("a"), ...names.map((name) => file(name))]);
    const kinds = [...html.matchAll(/<a class="(\w+)"/g)].map(([, kind]) => kind);
    expect(kinds).toEqual(["folder", "image", "audio", "video", "text", "text", "page", "pdf", "archive", "other"]);
  });

  test("keeps the order of the page, and not its search, in the folders that it leads to, below and above", async () => {
    const query = { order: { column: "size", descending: true }, limit: 10, after: undefined, find: "x" } as const;
    const html = await page([folder("a"), file("b")], { query, path: "/docs/" });
    expect(linksOf(html)[0]?.href).toBe("../?sort=size&order=desc");
    expect(linksOf(html).slice(-2)).toEqual([
      { href: "./a/?sort=size&order=desc", text: "a/" },
      { href: "./b", text: "b" },
    ]);
  });

  test("says what this user may do with it, on a page for changes", async () => {
    const html = await page([file("a"), file("b")], { mayEdit: true });
    expect(html).toContain("<body data-may-add>");
    expect(
      [...html.matchAll(/<tr( data-may="[^"]*" data-tag="[^"]+")?><th scope="row">/g)].map(([, may]) => may),
    ).toEqual([
      expect.stringContaining(' data-may="write delete"'),
      undefined,
      undefined, // the sum
    ]);
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
