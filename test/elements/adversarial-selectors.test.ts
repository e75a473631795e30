import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SourceDocument } from "../../src/html/document/source-document.ts";
import { DocumentError } from "../../src/html/document-error.ts";
import { compileSelector, selectElements } from "../../src/html/selector/select.ts";
import { parseHtml } from "../helpers/parse-html.ts";

/** Documents that a selector is slow on: wide, deep, both, with long attributes, with thousands of controls. */
const pages = {
  siblings: "<p class=a>x</p>".repeat(20_000),
  deep: `${"<div>".repeat(500)}<b>x</b>`,
  forest: `${"<div>".repeat(100)}<p></p>${"</div>".repeat(100)}`.repeat(400),
  icons: "<i></i>".repeat(100_000),
  comments: `${"<!---->".repeat(100_000)}<p>${"<!---->".repeat(100_000)}<p>`,
  attributes: `<p class="${"a ".repeat(1_000_000)}">`.repeat(2),
  controls: `<form>${"<fieldset disabled>".repeat(300)}${"<input type=radio name=a required>".repeat(10_000)}`,
  directions: "<div dir=auto>".repeat(400) + "<i>1</i>".repeat(20_000),
} as const;

const selectors: readonly (readonly [page: keyof typeof pages, selector: string])[] = [
  ["siblings", "p:nth-child(2n+1)"],
  ["siblings", "p:nth-of-type(2n+1):nth-last-of-type(3n)"],
  ["siblings", ":nth-last-child(odd of :not(:is(p ~ p ~ p)))"],
  ["siblings", "x ~ p"],
  ["siblings", times("p", 64, " ~ ")],
  ["siblings", times("p", 64, " + ")],
  ["siblings", "p:has(~ x)"],
  ["siblings", "p:has(~ p ~ p ~ x)"],
  ["siblings", "p:has(+ p:has(+ p))"],
  ["deep", `${times("div", 63, " ")} x`],
  ["deep", `${times("div", 30, " > ")} ${times("div", 30, " ")} x`],
  ["deep", `:has(${times("div", 60, " ")})`],
  ["deep", ":is(".repeat(60)],
  ["deep", times(":has(b)", 60, "")],
  ["forest", times("div", 64, " ")],
  ["forest", `${times("*", 63, " ")} x`],
  ["forest", times(":not(div div div)", 20, "")],
  ["forest", times(":nth-child(n of :has(p))", 30, "")],
  ["icons", "*"],
  ["icons", times("i", 64, ",")],
  ["icons", times("* ~ *", 32, ",")],
  ["icons", times(":has(~ i)", 60, "")],
  ["icons", `[${"a".repeat(4000)}]`],
  ["icons", `:is(${"(".repeat(4000)}`],
  ["icons", ":is(".repeat(1000)],
  ["icons", "\\".repeat(4096)],
  ["icons", "'".repeat(4096)],
  ["icons", "a/*".repeat(1365)],
  ["icons", `:nth-child(${"n ".repeat(2000)})`],
  ["comments", times("p + p", 32, ",")],
  ["comments", times(":empty", 400, "")],
  ["attributes", times("[class*=b i]", 64, ",")],
  ["attributes", `[class$='${"a ".repeat(2000)}b']`],
  ["attributes", times(".b", 1000, "")],
  ["controls", ":enabled, :invalid, :valid, :default, :indeterminate, :checked, :read-write"],
  ["controls", times("form:invalid", 50, ",")],
  ["directions", times(":dir(rtl)", 60, ",")],
  ["directions", times(":lang(de)", 60, ",")],
];

/** Five times the 250 ms that a selection may take: the machine of a test has other things to do as well. */
const patienceMs = 1250;
const documents = new Map<string, SourceDocument>();
let slowest = { ms: 0, selector: "" };

beforeAll(async () => {
  for (const [name, html] of Object.entries(pages)) {
    documents.set(name, await parseHtml(`<!doctype html><body>${html}`));
  }
}, 120_000);

afterAll(() => console.info(`${selectors.length} selectors; the slowest, ${slowest.ms} ms: ${slowest.selector}`));

describe("selectors that are built to be slow", () => {
  it.each(selectors)("are answered in time: on %s, %.60s", (name, selector) => {
    const document = documents.get(name);
    if (!document) throw new Error(`There is no page ${name}.`);
    const start = performance.now();
    expect(["selected", "INVALID_SELECTOR", "TOO_MANY_MATCHES", "SELECTOR_TOO_COSTLY"]).toContain(
      outcome(document, selector),
    );
    const ms = Math.round(performance.now() - start);
    if (ms > slowest.ms) slowest = { ms, selector: `${name}, ${selector.slice(0, 60)}` };
    expect(ms).toBeLessThan(patienceMs);
  });
});

function outcome(document: SourceDocument, selector: string): string {
  try {
    selectElements(document, compileSelector(selector));
    return "selected";
  } catch (error) {
    if (error instanceof DocumentError) return error.code;
    throw error;
  }
}

function times(selector: string, count: number, separator: string): string {
  return Array(count).fill(selector).join(separator);
}
