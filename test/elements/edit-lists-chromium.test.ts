import fc from "fast-check";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { elementSpan } from "../../src/html/document/element-span.ts";
import { isHtmlElement, type SourceElement } from "../../src/html/document/html-nodes.ts";
import type { Edit } from "../../src/html/edit/edits.ts";
import { compileSelector } from "../../src/html/selector/select.ts";
import { pageTimeout, sharedChromium } from "../helpers/chromium.ts";
import { checks, sample, seededRandom, timesOf } from "../helpers/effort.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { serveOne, wholePage } from "./editing.ts";
import { page as anyPage, fragment } from "./page-arbitraries.ts";
import { elementsOf, realPages, selectorOf } from "./pages.ts";
import { selectElements } from "./selected.ts";

const { seed, numRuns } = checks({ seed: 24, numRuns: 30, inCampaign: 2000 });
const listsPerPage = timesOf(1, 12);
const positions = ["beforebegin", "afterbegin", "beforeend", "afterend"] as const;
const pieces = "x|<b class=n>y</b>|<p>para|<li>item|<div>1<i>2</i></div>|<!--c-->z|<tr><td>1|<option>o".split("|");
const counts = { lists: 0, made: 0, refused: 0, normalised: 0 };

afterAll(() => console.info(`seed ${seed}:`, counts));

/** Without its byte order mark, which is no part of a page. */
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

type Random = () => number;

function randomOf<Item>(items: readonly Item[], random: Random): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

/** A list about elements of a page, most of them by selectors that find just one. */
function randomList(elements: readonly SourceElement[], random: Random, supplied: readonly string[] = pieces): Edit[] {
  const selector = (): string => {
    if (random() < 0.15)
      return randomOf(["b", "li", "p:first-child", ".x", "#a", "td", "a[href]:nth-of-type(2)"], random);
    return selectorOf(randomOf(elements, random));
  };
  const one = (): Edit => {
    const [position, html] = [randomOf(positions, random), randomOf(supplied, random)];
    const name = randomOf(["title", "class", "id", "data-x"], random);
    const ops: readonly Edit[] = [
      { op: "replace", selector: selector(), html },
      { op: "insert", selector: selector(), position, html },
      { op: "remove", selector: selector() },
      { op: "move", selector: selector(), to: selector(), position },
      { op: "setContent", selector: selector(), html },
      { op: "setText", selector: selector(), text: 'a < b & \u00a0é"' },
      { op: "setAttribute", selector: selector(), name, value: 'v "1" &amp;' },
      { op: "removeAttribute", selector: selector(), name: randomOf(["href", "class", "id", "title"], random) },
      { op: "addClass", selector: selector(), class: "new x" },
      { op: "removeClass", selector: selector(), class: "x" },
    ];
    return randomOf(ops, random);
  };
  return Array.from({ length: 1 + Math.floor(random() * 6) }, one);
}

interface Made {
  readonly status: number;
  readonly code: unknown;
  readonly index: unknown;
  readonly isNormalised: boolean;
  readonly after: Buffer;
}

async function make(before: Uint8Array, edits: readonly Edit[]): Promise<Made> {
  const files = serveOne(before);
  const init = { method: "PATCH", headers: { "content-type": "application/json" }, body: JSON.stringify(edits) };
  const reply = await files.fetch(new Request("http://localhost/page.html", init));
  const { code, index } = (await reply.json()) as Record<string, unknown>;
  const after = await wholePage(files);
  await files.close();
  return { status: reply.status, code, index, isNormalised: reply.headers.has("x-normalised"), after };
}

/** What a list does is what its edits do one by one; what it refuses is refused then, too, and changes nothing. */
async function requireSameOneByOne(before: Uint8Array, edits: readonly Edit[], list: Made): Promise<void> {
  if (list.code === "INVALID_EDIT") {
    // Known before any edit is made, whatever those before it would have met.
    expect((await make(before, edits.slice(Number(list.index)).slice(0, 1))).code).toBe("INVALID_EDIT");
    return expect(list.after.equals(before)).toBe(true);
  }
  let page: Buffer = Buffer.from(before);
  for (const [index, edit] of edits.entries()) {
    const single = await make(page, [edit]);
    if (single.status !== 200) {
      expect([list.status, list.code, list.index]).toEqual([single.status, single.code, index]);
      return expect(list.after.equals(before)).toBe(true);
    }
    if (!single.isNormalised) await requireKeptBytes(page, edit, single.after);
    page = single.after;
  }
  expect(list.status).toBe(200);
  expect(list.after.toString("latin1"), JSON.stringify(edits)).toBe(page.toString("latin1"));
}

/** Nothing before the first of the elements, nor behind the last, has changed. */
async function requireKeptBytes(before: Buffer, edit: Edit, after: Buffer): Promise<void> {
  const document = await parseHtml(before);
  const selectors = [edit.selector, ...("to" in edit ? [edit.to] : [])];
  const elements = selectors.flatMap((selector) => selectElements(document, compileSelector(selector)));
  const spans = elements.map(elementSpan);
  if (spans.length === 0) return expect(after.equals(before)).toBe(true);
  if (spans.includes(undefined)) return;
  const { source } = await parseHtml(after);
  const start = Math.min(...spans.map((span) => span?.start ?? 0));
  const end = Math.max(...spans.map((span) => span?.end ?? 0));
  // What is added to `html` or `body` goes to the end of the page, past their end tags if need be.
  if (elements.some(({ name }) => name === "html" || name === "body")) return;
  expect(source.startsWith(document.source.slice(0, start))).toBe(true);
  expect(source.endsWith(document.source.slice(end))).toBe(true);
}

/** Runs in the browser: the tree of a page after the same DOM calls, and that of the edited page. */
async function trees([before, after, edits, goesOn]: readonly [string, string, readonly Edit[], boolean]): Promise<
  [string, string]
> {
  const open = async (html: string): Promise<{ document: Document; close(): void }> => {
    const frame = document.body.appendChild(document.createElement("iframe"));
    const inner = frame.contentDocument as Document;
    inner.open();
    inner.write(html);
    inner.close();
    // A script that is not run waits for style sheets all the same, and the parser with it.
    if (inner.readyState === "loading")
      await new Promise((resolve) => inner.addEventListener("DOMContentLoaded", resolve, { once: true }));
    return { document: inner, close: () => frame.remove() };
  };
  const dump = (root: Document): string => {
    root.normalize();
    const lines: string[] = [];
    const isLast = (node: Node): boolean =>
      !node.nextSibling && (node.parentNode === root.body || (node.parentNode !== null && isLast(node.parentNode)));
    const visit = (node: Node, indent: string): void => {
      const parent = node.parentNode as Element | null;
      if (node.nodeType === 3) {
        const isOutside = parent?.localName === "html" || parent?.localName === "head";
        // The white space at both ends of a page depends on where its tags stand, and shows nowhere.
        const text = isLast(node) ? node.nodeValue?.trimEnd() : node.nodeValue;
        const shown = parent === root.body && !node.previousSibling ? text?.trimStart() : text;
        if (shown !== "" && !(isOutside && shown?.trim() === "")) lines.push(`${indent}${JSON.stringify(shown)}`);
        return;
      }
      if (node.nodeType === 8) lines.push(`${indent}<!--${node.nodeValue}-->`);
      if (node.nodeType !== 1) return;
      const element = node as HTMLTemplateElement;
      if (typeof element.content === "object") element.content.normalize();
      const attributes = [...element.attributes].map(({ name, value }) =>
        name === "class" ? `class=${[...element.classList].join(" ")}` : `${name}=${value}`,
      );
      lines.push(`${indent}${element.namespaceURI} ${element.localName} ${attributes.sort().join(" ")}`);
      const children = [
        ...(typeof element.content === "object" ? [...element.content.childNodes] : []),
        ...element.childNodes,
      ];
      for (const child of children) visit(child, `${indent} `);
    };
    for (const child of root.childNodes) visit(child, "");
    return lines.join("\n");
  };
  const outermost = (found: readonly Element[]): Element[] =>
    found.filter((one) => !found.some((other) => other !== one && other.contains(one)));
  // What is put into a template is its content; the DOM could give it children besides, which no page can.
  const inside = (element: Element): Element | DocumentFragment => {
    const { content } = element as HTMLTemplateElement;
    return typeof content === "object" ? content : element;
  };
  const first = await open(before);
  const doc = first.document;
  const body = (element: Element, position: InsertPosition): Element =>
    element === doc.documentElement && position === "beforeend" ? doc.body : element;
  // A row that is added to a table goes on in the body of it that the parser has made.
  const insertHtml = (element: Element, position: InsertPosition, html: string): void => {
    if (html.trim() === "") return; // is put nowhere
    if (inside(element) !== element && (position === "afterbegin" || position === "beforeend")) {
      const { content } = Object.assign(doc.createElement("template"), { innerHTML: html });
      if (position === "afterbegin") inside(element).prepend(content);
      else inside(element).append(content);
      return;
    }
    const isRow = goesOn && element.localName === "table" && position === "beforeend" && /^<t[rd]/.test(html);
    const last = isRow && element.lastElementChild?.localName === "tbody" ? element.lastElementChild : element;
    body(last, position).insertAdjacentHTML(position, html);
  };
  for (const edit of edits) {
    const all = [...doc.querySelectorAll(edit.selector)];
    if (all.length === 0) continue;
    if (edit.op === "insert") for (const each of all) insertHtml(each, edit.position, edit.html);
    if (edit.op === "setAttribute") for (const each of all) each.setAttribute(edit.name, edit.value);
    if (edit.op === "removeAttribute") for (const each of all) each.removeAttribute(edit.name);
    if (edit.op === "addClass") for (const each of all) each.classList.add(...edit.class.split(" "));
    if (edit.op === "removeClass") for (const each of all) each.classList.remove(...edit.class.split(" "));
    const outer = outermost(all);
    if (edit.op === "replace") {
      for (const each of outer) {
        // Beside a head, the DOM puts a body, and beside a body a head.
        const { documentElement, head, body } = new DOMParser().parseFromString(edit.html, "text/html");
        const index = [doc.documentElement, doc.head, doc.body].indexOf(each as HTMLElement);
        if (index >= 0) each.replaceWith([documentElement, head, body][index] as Node);
        else each.outerHTML = edit.html;
      }
    }
    if (edit.op === "remove") for (const each of outer) each.remove();
    if (edit.op === "setContent") for (const each of outer) each.innerHTML = edit.html;
    if (edit.op === "setText") for (const each of outer) inside(each).textContent = edit.text;
    if (edit.op === "move") {
      const to = doc.querySelector(edit.to) as Element;
      // What a table holds gets the elements around it that a page has there, with its tags or without them.
      if (outer.some(({ localName }) => ["tr", "td", "th", "col"].includes(localName)) && inside(to) === to) {
        const shells = outer.map(({ localName: name }, index) => `<${name} data-moved="${index}"></${name}>`);
        for (const each of outer) each.remove();
        insertHtml(to, edit.position, shells.join(""));
        for (const [index, each] of outer.entries()) doc.querySelector(`[data-moved="${index}"]`)?.replaceWith(each);
        continue;
      }
      const moved = doc.createDocumentFragment();
      moved.append(...outer);
      if (edit.position === "beforebegin") to.before(moved);
      if (edit.position === "afterbegin") inside(to).prepend(moved);
      if (edit.position === "beforeend") inside(body(to, edit.position)).append(moved);
      if (edit.position === "afterend") to.after(moved);
    }
  }
  const second = await open(after);
  const both: [string, string] = [dump(doc), dump(second.document)];
  first.close();
  second.close();
  return both;
}

describe("a list of edits", { tags: ["chromium"] }, () => {
  let browser: Page;

  beforeAll(async () => {
    const chromium = await sharedChromium();
    browser = await chromium.newPage();
    browser.setDefaultTimeout(pageTimeout);
    await browser.route("**", (route) =>
      route.request().url() === "http://page.test/"
        ? route.fulfill({
            body: "<body>",
            headers: { "content-type": "text/html", "content-security-policy": "script-src 'none'" },
          })
        : route.abort(),
    );
    await browser.goto("http://page.test/");
  });

  afterAll(() => browser.close());

  async function check(before: Buffer, edits: readonly Edit[], shown: string): Promise<void> {
    const list = await make(before, edits);
    counts.lists += 1;
    expect(list.status, shown).toBeLessThan(500);
    await requireSameOneByOne(before, edits, list);
    counts[list.status === 200 ? "made" : "refused"] += 1;
    if (list.isNormalised) counts.normalised += 1;
    if (list.status !== 200) return;
    // White space behind the end tag of the body becomes text in it, and the DOM adds to the body behind that.
    const isSpaceLast = /<\/body>.*\s/is.test(textOf(before));
    const sizeOf = async (text: string): Promise<number> => elementsOf(await parseHtml(Buffer.from(text))).length;
    // Chromium does not put that into the formatting elements that are still open, as the standard says.
    const shorter = textOf(before).replace(/<\/body>.*$/is, (tags) => tags.replace(/\s+/g, ""));
    if (isSpaceLast && (await sizeOf(textOf(before))) !== (await sizeOf(shorter))) return;
    const compared = (tree: string): string => {
      if (!isSpaceLast) return tree;
      const withoutSpace = (_: string, indent: string, text: string) =>
        `${indent}"${text.replace(/\\[fnrt]|\s/g, "")}"`;
      return tree
        .replace(/^( *)"(.*)"$/gm, withoutSpace)
        .replace(/^ *""\n?/gm, "")
        .trimEnd();
    };
    const compare = async (goesOn: boolean): Promise<readonly string[]> => {
      const both = await browser.evaluate(trees, [textOf(before), textOf(list.after), edits, goesOn] as const);
      return both.map(compared);
    };
    const [expected, found] = await compare(false);
    if (found === expected) return;
    const [other, same] = await compare(true);
    if (other !== same) expect(found, shown).toBe(expected);
  }

  it.each(sample(realPages(), 2))(
    "of a real page does what the same calls do in Chromium, and no more: $name",
    async ({ bytes, number }) => {
      const elements = elementsOf(await parseHtml(bytes)).filter((element) => element.name !== "noscript");
      const random = seededRandom(number);
      for (let list = 0; list < listsPerPage; list += 1) {
        const edits = randomList(elements, random);
        await check(bytes, edits, JSON.stringify(edits));
      }
    },
  );

  it("of any page does what the same calls do in Chromium, and no more", async () => {
    const property = fc.asyncProperty(anyPage, fragment, fc.integer(), async (before, content, own) => {
      if (before.includes("&#0;") && before.includes("<frameset")) return; // which Chromium takes for blank before that
      if (before.includes("<?")) return; // a processing instruction to Chromium since 2026, a comment to those before it
      const elements = elementsOf(await parseHtml(before)).filter(isHtmlElement);
      const piece = Buffer.from(content)
        .toString()
        .replace(/[^\0-\x7f]/g, "?"); // what any page can hold
      const edits = randomList(elements, seededRandom(own), [...pieces, piece]);
      await check(before, edits, `${before.toString()}\n${JSON.stringify(edits)}`);
    });
    await fc.assert(property, checks({ seed: 24, numRuns, inCampaign: numRuns }));
  });
});
