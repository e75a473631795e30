import { afterAll, describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { elementSpan, isTagOnly } from "../../src/html/document/element-span.ts";
import { isHtmlElement, type SourceElement } from "../../src/html/document/html-nodes.ts";
import type { SourceDocument } from "../../src/html/document/source-document.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { seededRandom, timesOf } from "../helpers/effort.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { elementsOf, type RealPage, realPages, replacementFor, selectorOf } from "./pages.ts";

const elementsPerPage = timesOf(2, 3);
const pages = realPages();
const exercised = { elements: 0, edits: 0, refused: 0, normalised: 0 };
const tags = new Set<string>();

afterAll(() => {
  const { elements, edits, refused, normalised } = exercised;
  const outcomes = `${edits} edits in place, ${normalised} that put the page in order, ${refused} refused`;
  console.info(`${elements} elements of ${pages.length} pages, ${tags.size} tags: ${outcomes}`);
});

/** Elements with a place of their own, rare tags and different depths first; the last ones of the page come first. */
function someElements(document: SourceDocument, seed: number): SourceElement[] {
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

/** Sends a request to the page, in-process or over HTTP. */
type Send = (init: RequestInit) => Promise<Response>;

/** Status, content, and whether the page was put in order for the edit. */
type Answer = readonly [status: number, content: Buffer, isNormalised: boolean];

async function request(send: Send, method: string, selector: string, body?: string): Promise<Answer> {
  const headers = { range: `selector=${selector}` };
  const response = await send({ method, headers, ...(body !== undefined && { body }) });
  const isNormalised = response.headers.get("x-normalised") === "true";
  return [response.status, Buffer.from(await response.arrayBuffer()), isNormalised];
}

async function wholePage(send: Send): Promise<Buffer> {
  return Buffer.from(await (await send({})).arrayBuffer());
}

/** Reads the element, which has to be what stands at `start`; returns what stands before and after it. */
async function around(
  send: Send,
  selector: string,
  start: number,
): Promise<{ before: Buffer; after: Buffer; element: Buffer }> {
  const page = await wholePage(send);
  const [status, element] = await request(send, "GET", selector);
  expect(status).toBe(206);
  const end = start + element.length;
  expect(page.subarray(start, end).equals(element), `GET ${selector}`).toBe(true);
  return { before: page.subarray(0, start), after: page.subarray(end), element };
}

/** Changes the element: all other bytes must stay. `"moved"` where the page had to be put in order for that. */
async function change(
  send: Send,
  method: string,
  selector: string,
  start: number,
  body?: string,
): Promise<"in place" | "refused" | "moved"> {
  const { before, after, element } = await around(send, selector, start);
  const [status, answer, isNormalised] = await request(send, method, selector, body);
  if (isNormalised) {
    exercised.normalised += 1;
    return "moved";
  }
  const page = await wholePage(send);
  expect(page.subarray(0, before.length).equals(before), `${method} ${selector}: bytes before`).toBe(true);
  expect(page.subarray(page.length - after.length).equals(after), `${method} ${selector}: bytes after`).toBe(true);
  if (status === 400) {
    exercised.refused += 1;
    expect(page.length).toBe(before.length + element.length + after.length);
    return "refused";
  }
  expect(status, `${method} ${selector}: ${answer.toString()}`).toBe(method === "DELETE" ? 204 : 206);
  exercised.edits += 1;
  return "in place";
}

async function exercise({ bytes, number }: RealPage, send: Send): Promise<void> {
  const document = await parseHtml(bytes);
  for (const element of someElements(document, number)) {
    const selector = selectorOf(element);
    const before = document.source.slice(0, elementSpan(element)?.start);
    const start = Buffer.byteLength(before) + (document.hasByteOrderMark ? 3 : 0);
    exercised.elements += 1;
    tags.add(element.name);
    const cannotGrow = isTagOnly(element) && isHtmlElement(element);
    const edits: [string, string?][] = [["PUT", replacementFor(element)], ["DELETE"]];
    if (!cannotGrow) edits.unshift(["POST", "<!--appended-->"]);
    for (const [method, body] of edits) {
      if ((await change(send, method, selector, start, body)) === "moved") return;
    }
  }
}

describe("the elements of real pages", () => {
  it.each(pages)("it reads and changes them exactly: $name", async (page) => {
    const files = createFileServer({ storage: memoryStorage({ "/page.html": page.bytes }) });
    await exercise(page, (init) => files.fetch(new Request("http://localhost/page.html", init)));
    await files.close();
  });
});
