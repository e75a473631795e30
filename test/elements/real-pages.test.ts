import { afterAll, describe, expect, it } from "vitest";
import { elementSpan, isTagOnly } from "../../src/elements/element-span.ts";
import { type HtmlDocument, isHtmlElement, parseHtml } from "../../src/elements/html-document.ts";
import type { SourceElement } from "../../src/elements/html-tree.ts";
import { createFileServer, type FileServer } from "../../src/file-server.ts";
import { memoryStorage } from "../../src/storage/memory-storage.ts";
import { elementsOf, realPages, replacementFor, seededRandom, selectorOf } from "./pages.ts";

const elementsPerPage = 8;
const pages = realPages();
const exercised = { elements: 0, edits: 0, refused: 0 };
const tags = new Set<string>();

afterAll(() => {
  const { elements, edits, refused } = exercised;
  console.info(`${elements} elements of ${pages.length} pages, ${tags.size} tags: ${edits} edits, ${refused} refused`);
});

/** Elements with a place of their own, rare tags and different depths first; the last ones of the page come first. */
function someElements(document: HtmlDocument, seed: number): SourceElement[] {
  const random = seededRandom(seed);
  const seen = new Map<string, number>();
  const candidates = elementsOf(document)
    .filter((element) => elementSpan(element) && !["html", "head", "body"].includes(element.name))
    .map((element) => ({ element, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ element, order }) => {
      const count = seen.get(element.name) ?? 0;
      seen.set(element.name, count + 1);
      return { element, order: count + order };
    })
    .sort((a, b) => a.order - b.order)
    .slice(0, elementsPerPage)
    .map(({ element }) => element);
  return candidates.sort((a, b) => (b.startIndex ?? 0) - (a.startIndex ?? 0));
}

async function request(files: FileServer, method: string, selector: string, body?: string): Promise<[number, Buffer]> {
  const init = { method, headers: { range: `selector=${selector}` }, ...(body !== undefined && { body }) };
  const response = await files.fetch(new Request("http://localhost/page.html", init));
  return [response.status, Buffer.from(await response.arrayBuffer())];
}

async function wholePage(files: FileServer): Promise<Buffer> {
  return Buffer.from(await (await files.fetch(new Request("http://localhost/page.html"))).arrayBuffer());
}

/** Reads the element, which has to be what stands at `start`; returns what stands before and after it. */
async function around(
  files: FileServer,
  selector: string,
  start: number,
): Promise<{ before: Buffer; after: Buffer; element: Buffer }> {
  const page = await wholePage(files);
  const [status, element] = await request(files, "GET", selector);
  expect(status).toBe(206);
  const end = start + element.length;
  expect(page.subarray(start, end).equals(element), `GET ${selector}`).toBe(true);
  return { before: page.subarray(0, start), after: page.subarray(end), element };
}

/** Changes the element; whatever the answer, the bytes before and after it must be as they were. */
async function change(
  files: FileServer,
  method: string,
  selector: string,
  start: number,
  body?: string,
): Promise<boolean> {
  const { before, after, element } = await around(files, selector, start);
  const [status, answer] = await request(files, method, selector, body);
  const page = await wholePage(files);
  expect(page.subarray(0, before.length).equals(before), `${method} ${selector}: bytes before`).toBe(true);
  expect(page.subarray(page.length - after.length).equals(after), `${method} ${selector}: bytes after`).toBe(true);
  if (status === 400) {
    exercised.refused += 1;
    expect(page.length).toBe(before.length + element.length + after.length);
    return false;
  }
  expect(status, `${method} ${selector}: ${answer.toString()}`).toBe(method === "DELETE" ? 204 : 206);
  exercised.edits += 1;
  return true;
}

describe("the elements of real pages", () => {
  it.each(pages.map((page, index) => ({ ...page, index })))(
    "it reads and changes them exactly: $name",
    async ({ bytes, index }) => {
      const document = parseHtml(bytes);
      const files = createFileServer({ storage: memoryStorage({ "/page.html": bytes }) });
      for (const element of someElements(document, index)) {
        const selector = selectorOf(element);
        const { start = 0, end = 0 } = elementSpan(element) ?? {};
        const startByte = Buffer.byteLength(document.source.slice(0, start)) + (document.hasByteOrderMark ? 3 : 0);
        const { before } = await around(files, selector, startByte);
        expect(document.source.slice(0, start) === before.toString().replace(/^\ufeff/, "")).toBe(true);
        expect(end).toBeGreaterThan(start);
        exercised.elements += 1;
        tags.add(element.name);

        const cannotGrow = isTagOnly(element) && isHtmlElement(element);
        if (!cannotGrow) await change(files, "POST", selector, startByte, "<!--appended-->");
        await change(files, "PUT", selector, startByte, replacementFor(element));
        await change(files, "DELETE", selector, startByte);
      }
      await files.close();
    },
  );
});
