import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { elementSpan } from "../../src/elements/element-span.ts";
import { parseHtml } from "../../src/elements/html-document.ts";
import { outermost } from "../../src/elements/outermost.ts";
import { compileSelector, selectElements } from "../../src/elements/select.ts";
import { parseFragment } from "../../src/elements/well-formed.ts";
import { send, serveOne, wholePage } from "./editing.ts";
import { expectedReadings, reading } from "./oracle.ts";
import { fragment, method, page, target } from "./page-arbitraries.ts";
import { elementsOf, selectorOf } from "./pages.ts";

const runs = Number(process.env["EDIT_RUNS"] ?? 10_000);
const seed = Number(process.env["EDIT_SEED"] ?? Date.now() % 2 ** 31);
const outcomes = new Map<string, number>();

afterAll(() => {
  const counts = [...outcomes].sort().map(([outcome, count]) => `${outcome}: ${count}`);
  console.info(`seed ${seed} (EDIT_SEED), ${runs} edits (EDIT_RUNS)\n${counts.join("\n")}`);
});

describe("an edit of any page with any content", () => {
  it("is refused and changes nothing, or changes just what it should", { timeout: 3_600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(page, target, method, fragment, async (before, aim, verb, html) => {
        const document = await parseHtml(before);
        const all = elementsOf(document);
        const aimed = typeof aim === "number" ? (all[3 + Math.floor(aim * (all.length - 3))] ?? all.at(-1)) : undefined;
        const css = typeof aim === "string" ? aim : aimed ? selectorOf(aimed) : "*";
        const files = serveOne(before);
        const body = verb === "DELETE" ? undefined : html;
        const reply = await send(files, verb, css, body as string | undefined);
        const after = await wholePage(files);
        const text = await reply.text();
        await files.close();
        const { status } = reply;
        const isNormalised = reply.headers.get("x-normalised") === "true";
        const code = status >= 400 ? ` ${JSON.parse(text).code}` : "";
        const outcome = `${verb} ${status}${code}${isNormalised ? " normalised" : ""}`;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);

        expect(status).toBeLessThan(500);
        if (status >= 400 || reply.headers.get("x-selector-matches") === "0") {
          expect(after.equals(before)).toBe(true);
          return;
        }
        const matches = selectElements(document, compileSelector(css));
        const supplied = typeof html === "string" ? html : Buffer.from(html).toString();
        const elements = matches.map((element) => all.indexOf(element));
        const edit = { method: verb, elements, html: verb === "DELETE" || supplied.trim() === "" ? "" : supplied };
        expect(expectedReadings(before, edit)).toContain(reading(after));
        if (isNormalised) return;
        if (verb === "POST") return;
        const placed = verb === "PUT" ? (await parseFragment(supplied).catch(() => ({ html: supplied }))).html : "";
        const spans = outermost(matches).map((element) => elementSpan(element) ?? { start: 0, end: 0 });
        spans.sort((a, b) => a.start - b.start);
        const ends = [0, ...spans.map(({ end }) => end)];
        const kept = ends.map((end, index) => document.source.slice(end, spans[index]?.start));
        const between = `(?:</[^>]+>|\\n)*?${literal(placed)}(?:</[^>]+>)*?`;
        const source = (await parseHtml(after)).source;
        expect(source).toMatch(new RegExp(`^${kept.map(literal).join(between)}$`));
      }),
      { seed, numRuns: runs, ...(process.env["EDIT_PATH"] && { path: process.env["EDIT_PATH"] }) },
    );
  });
});

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
