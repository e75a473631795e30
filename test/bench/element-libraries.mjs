import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { load } from "cheerio";
import { createFileServer, memoryStorage } from "filement";
import { parsePage } from "filement/html";
import { HTMLRewriter } from "html-rewriter-wasm";
import { parseHTML } from "linkedom";
import { parse as parseNodeHtml } from "node-html-parser";
import { parse as parse5, parseFragment, serialize, serializeOuter } from "parse5";
import { median } from "./rounds.mjs";
import { printTable } from "./table.mjs";

/**
 * A way to work on elements of a page, given and answered as bytes.
 *
 * @typedef {object} Library
 * @property {string} name
 * @property {(page: Buffer, index: number) => Promise<Outcome> | Outcome} read `p a[href]`: the outer HTML of each.
 * @property {(page: Buffer, index: number) => Promise<Outcome> | Outcome} replace `title` by {@link newTitle}; the page.
 */

/** @typedef {{ matches: number, bytes: Uint8Array }} Outcome */

const directory = fileURLToPath(import.meta.resolve("htmlparser-benchmark/files/"));
const newTitle = "<title>replaced</title>";
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * Elements of the 258 pages of `htmlparser-benchmark` read and replaced, beside other libraries for that.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function elementLibraries(_directory, { rounds }) {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".html")).sort();
  // A single round is a trial.
  const chosen = rounds > 1 ? names : names.filter((_, index) => index % 32 === 0);
  const pages = await Promise.all(chosen.map((name) => readFile(directory + name)));
  const libraries = [...(await filement(pages)), filementHtml, plainParse5, cheerio, linkedom, nodeHtmlParser, lolHtml];
  const standard = await Promise.all(pages.map(plainParse5.read));
  for (const kind of /** @type {const} */ (["read", "replace"])) {
    /** @type {Map<string, number[]>} */
    const times = new Map(libraries.map(({ name }) => [name, []]));
    /** @type {Map<string, Outcome[]>} */
    const outcomes = new Map();
    for (let round = 0; round <= rounds; round += 1) {
      for (const library of libraries) {
        /** @type {Outcome[]} */
        const found = [];
        const startedAt = performance.now();
        for (const [index, page] of pages.entries()) found.push(await library[kind](page, index));
        if (round > 0) times.get(library.name)?.push(performance.now() - startedAt); // the first one warms up
        outcomes.set(library.name, found);
      }
    }
    const bytes = pages.reduce((sum, { length }) => sum + length, 0);
    const rows = libraries.map(({ name }) => {
      const seconds = median(times.get(name) ?? []) / 1000;
      const found = outcomes.get(name) ?? [];
      const right =
        kind === "read"
          ? found.filter(({ matches }, index) => matches === standard[index]?.matches).length
          : found.filter(({ bytes: after }, index) => isOnlyTitleReplaced(pages[index], after)).length;
      return [
        name,
        (pages.length / seconds).toFixed(0),
        (bytes / 1e6 / seconds).toFixed(1),
        `${right} of ${pages.length}`,
      ];
    });
    if (kind === "read") {
      printTable("Reading p a[href]", ["", "pages/s", "MB/s", "pages with the browser's matches"], rows);
    } else {
      printTable("Replacing title", ["", "pages/s", "MB/s", "pages otherwise byte for byte the same"], rows);
    }
  }
}

/** The whole way of a request through the file server, without a socket. @param {readonly Buffer[]} pages */
async function filement(pages) {
  const content = Object.fromEntries(pages.map((page, index) => [`/${index}.html`, page]));
  /** @type {(name: string, documentCacheSize: number) => Library} */
  const library = (name, documentCacheSize) => {
    const files = createFileServer({ storage: memoryStorage(content), documentCacheSize });
    /** @type {(index: number, selector: string, body?: string) => Promise<Outcome>} */
    const ask = async (index, selector, body) => {
      const headers = { range: `selector=${selector}` };
      const init = body === undefined ? { headers } : { method: "PUT", headers, body };
      const answer = await files.fetch(new Request(`http://localhost/${index}.html`, init));
      const matches = Number(answer.headers.get("x-selector-matches"));
      return { matches, bytes: new Uint8Array(await answer.arrayBuffer()) };
    };
    return {
      name,
      read: (_page, index) => ask(index, "p a[href]"),
      async replace(_page, index) {
        const { matches } = await ask(index, "title", newTitle);
        const answer = await files.fetch(new Request(`http://localhost/${index}.html`));
        return { matches, bytes: new Uint8Array(await answer.arrayBuffer()) };
      },
    };
  };
  return [library("filement, page not parsed before", 1), library("filement, page in the cache", 1024 ** 3)];
}

/** @type {Library} */
const filementHtml = {
  name: "filement/html",
  read(page) {
    const found = parsePage(page).select("p a[href]");
    return { matches: found.length, bytes: encoder.encode(found.map(({ outerHtml }) => outerHtml).join("")) };
  },
  replace(page) {
    const edited = parsePage(page);
    const [result] = edited.edit([{ op: "replace", selector: "title", html: newTitle }]);
    return { matches: result?.matches ?? 0, bytes: edited.toBytes() };
  },
};

/**
 * A library that works on the text of a page.
 *
 * @param {string} name
 * @param {(html: string) => readonly string[]} read
 * @param {(html: string) => readonly [matches: number, html: string]} replace
 * @returns {Library}
 */
function ofText(name, read, replace) {
  return {
    name,
    read(page) {
      const found = read(decoder.decode(page));
      return { matches: found.length, bytes: encoder.encode(found.join("")) };
    },
    replace(page) {
      const [matches, html] = replace(decoder.decode(page));
      return { matches, bytes: encoder.encode(html) };
    },
  };
}

/** @typedef {import("parse5").DefaultTreeAdapterTypes.ChildNode} Node */
/** @typedef {import("parse5").DefaultTreeAdapterTypes.Element} Element */

const plainParse5 = ofText(
  "parse5, select, print",
  (html) =>
    elementsIn(parse5(html))
      .filter((element) => element.tagName === "a" && hasAttribute(element, "href") && isIn(element, "p"))
      .map((element) => serializeOuter(element)),
  (html) => {
    const document = parse5(html);
    const titles = elementsIn(document).filter(({ tagName }) => tagName === "title");
    for (const title of titles) {
      const [replacement] = parseFragment(newTitle).childNodes;
      const { parentNode } = title;
      if (parentNode && replacement) parentNode.childNodes.splice(parentNode.childNodes.indexOf(title), 1, replacement);
    }
    return [titles.length, serialize(document)];
  },
);

const cheerio = ofText(
  "cheerio",
  (html) => {
    const $ = load(html);
    return $("p a[href]")
      .toArray()
      .map((element) => $.html(element));
  },
  (html) => {
    const $ = load(html);
    const found = $("title");
    found.replaceWith(newTitle);
    return [found.length, $.html()];
  },
);

const linkedom = ofText(
  "linkedom",
  (html) => [...parseHTML(html).document.querySelectorAll("p a[href]")].map(({ outerHTML }) => outerHTML),
  (html) => {
    const { document } = parseHTML(html);
    const found = document.querySelectorAll("title");
    for (const title of found) title.outerHTML = newTitle;
    return [found.length, document.toString()];
  },
);

const nodeHtmlParser = ofText(
  "node-html-parser",
  (html) => parseNodeHtml(html, keepAll).querySelectorAll("p a[href]").map(String),
  (html) => {
    const root = parseNodeHtml(html, keepAll);
    const found = root.querySelectorAll("title");
    for (const title of found) title.replaceWith(newTitle);
    return [found.length, root.toString()];
  },
);

const keepAll = { comment: true, blockTextElements: { script: true, noscript: true, style: true, pre: true } };

/** A stream without a tree: it finds, and can replace, but not give the source of what it finds. @type {Library} */
const lolHtml = {
  name: "lol-html (html-rewriter-wasm)",
  read: (page) => rewrite(page, "p a[href]", () => {}),
  replace: (page) => rewrite(page, "title", (element) => void element.replace(newTitle, { html: true })),
};

/**
 * @param {Buffer} page
 * @param {string} selector
 * @param {(element: import("html-rewriter-wasm").Element) => void} handle
 */
async function rewrite(page, selector, handle) {
  /** @type {Uint8Array[]} */
  const output = [];
  let matches = 0;
  const rewriter = new HTMLRewriter((chunk) => void output.push(chunk.slice()));
  rewriter.on(selector, {
    element(element) {
      matches += 1;
      handle(element);
    },
  });
  try {
    await rewriter.write(page);
    await rewriter.end();
  } finally {
    rewriter.free();
  }
  return { matches, bytes: Buffer.concat(output) };
}

/**
 * @param {{ childNodes: Node[] }} root
 * @returns {Element[]}
 */
function elementsIn(root) {
  /** @type {Element[]} */
  const elements = [];
  const waiting = [...root.childNodes].reverse();
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (!("tagName" in node)) continue;
    elements.push(node);
    for (let index = node.childNodes.length - 1; index >= 0; index -= 1) {
      const child = node.childNodes[index];
      if (child) waiting.push(child);
    }
  }
  return elements;
}

/** @type {(element: Element, name: string) => boolean} */
const hasAttribute = ({ attrs }, name) => attrs.some((attr) => attr.name === name);

/** @type {(element: Element, tagName: string) => boolean} */
function isIn({ parentNode }, tagName) {
  for (let current = parentNode; current && "tagName" in current; current = current.parentNode) {
    if (current.tagName === tagName) return true;
  }
  return false;
}

/**
 * Whether a page is the other one with each `title` replaced, and nothing else different.
 *
 * @param {Buffer | undefined} before
 * @param {Uint8Array} after
 */
function isOnlyTitleReplaced(before, after) {
  const rest = (/** @type {Uint8Array} */ bytes) =>
    Buffer.from(bytes)
      .toString("latin1")
      .replace(/<title\b[\s\S]*?<\/title\s*>/gi, "");
  return before !== undefined && rest(before) === rest(after);
}
