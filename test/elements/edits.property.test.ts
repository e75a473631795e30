import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type { FileServer } from "../../src/file-server.ts";
import { elementSpan, isTagOnly } from "../../src/html/document/element-span.ts";
import type { SourceElement } from "../../src/html/document/html-nodes.ts";
import type { SourceDocument } from "../../src/html/document/source-document.ts";
import { insertionPoint, outermost } from "../../src/html/edit/placement.ts";
import { compileSelector } from "../../src/html/selector/select.ts";
import { checks, timeForMore } from "../helpers/effort.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { send, serveOne, wholePage } from "./editing.ts";
import { type EditMethod, fragment, method, page, target } from "./page-arbitraries.ts";
import { elementsOf, selectorOf } from "./pages.ts";
import { selectElements } from "./selected.ts";

const usual = 80;
const effort = checks({ seed: 20_261_121, numRuns: usual, inCampaign: 10_000 });
/** What fast-check has shrunk a failure to, so that only that is repeated: `EDIT_PATH=0:1 npx vitest ...`. */
const path = process.env["EDIT_PATH"];
const outcomes = new Map<string, number>();
let edits = 0;

afterAll(() => {
  const counts = [...outcomes].sort().map(([outcome, count]) => `${outcome}: ${count}`);
  console.info(`seed ${effort.seed}, ${edits} edits\n${counts.join("\n")}`);
});

describe("an edit of any page with any content", () => {
  it("is refused and changes nothing, or changes no byte but where it should", async () => {
    const isTimeFor = timeForMore(usual);
    const property = fc.asyncProperty(page, target, method, fragment, async (before, aim, verb, content) => {
      if (!isTimeFor(edits)) return;
      edits += 1;
      const document = await parseHtml(before);
      const selector = selectorFor(aim, document);
      const text = verb === "DELETE" ? "" : Buffer.from(content).toString();
      // PUT leaves out the line break that editors put behind the last tag.
      const supplied = verb === "PUT" ? text.replace(/>[ \t\f]*[\n\r][ \t\n\f\r]*$/, ">") : text;
      const files = serveOne(before);
      const reply = await send(files, verb, selector, verb === "DELETE" ? undefined : content);
      const after = await wholePage(files);
      count(verb, reply);

      expect(reply.status).toBeLessThan(500);
      if (reply.status >= 400 || reply.headers.get("x-selector-matches") === "0") {
        expect(after).toEqual(before);
      } else {
        const matches = selectElements(document, compileSelector(selector));
        if (!reply.headers.has("x-normalised")) await requireKeptBytes(document, matches, verb, supplied, after);
        await requireKnownState(files, selector, reply, after);
      }
      await files.close();
    });
    await fc.assert(property, { ...effort, ...(path !== undefined && { path }) });
  });
});

function selectorFor(aim: string | number, document: SourceDocument): string {
  if (typeof aim === "string") return aim;
  const elements = elementsOf(document);
  const element = elements[3 + Math.floor(aim * (elements.length - 3))] ?? elements.at(-1);
  return element ? selectorOf(element) : "*";
}

function count(verb: string, { status, headers }: Response): void {
  const outcome = `${verb} ${status}${headers.has("x-normalised") ? " normalised" : ""}`;
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}

/** Every byte outside of the elements is there, in order; beside what was supplied there are new end tags only. */
async function requireKeptBytes(
  document: SourceDocument,
  matches: readonly SourceElement[],
  verb: EditMethod,
  supplied: string,
  after: Uint8Array,
): Promise<void> {
  if (supplied.trim() === "" && verb === "POST") {
    expect((await parseHtml(after)).source).toBe(document.source);
    return;
  }
  const gaps =
    verb === "POST" ? matches.map((element) => gapInside(document, element)) : outermost(matches).map(spanOf);
  gaps.sort((a, b) => a.start - b.start);
  const kept = [0, ...gaps.map(({ end }) => end)].map((end, index) => document.source.slice(end, gaps[index]?.start));
  const between = `(?:</[^>]+>|>|\\n)*?${literal(supplied.replace(/^\ufeff/, ""))}(?:</[^>]+>)*?`;
  expect((await parseHtml(after)).source).toMatch(new RegExp(`^${kept.map(literal).join(between)}$`));
}

function spanOf(element: SourceElement): { start: number; end: number } {
  const span = elementSpan(element);
  if (!span) throw new Error("an element without a place of its own was changed in place");
  return { start: span.start, end: span.end };
}

/** Where something was added: before an end tag, or in place of the `/>` of an element that was opened for it. */
function gapInside(document: SourceDocument, element: SourceElement): { start: number; end: number } {
  const { contentStart } = element;
  if (isTagOnly(element)) return { start: document.source.lastIndexOf("/", contentStart), end: contentStart };
  const point = insertionPoint(document, element);
  if (point === undefined) throw new Error("something was added to an element without a place");
  return { start: point, end: point };
}

/** The server knows the page as one that has never seen it before, and the tag it gave is the tag of that. */
async function requireKnownState(
  files: FileServer,
  selector: string,
  reply: Response,
  after: Uint8Array,
): Promise<void> {
  const stranger = serveOne(after);
  const [known, read] = await Promise.all([files, stranger].map((each) => send(each, "GET", selector)));
  expect(known?.headers.get("etag")).toBe(read?.headers.get("etag"));
  if (reply.status === 206) expect(reply.headers.get("etag")).toBe(read?.headers.get("etag"));
  await stranger.close();
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
