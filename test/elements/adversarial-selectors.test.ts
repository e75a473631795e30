import { describe, expect, it } from "vitest";
import type { SourceDocument } from "../../src/html/document/source-document.ts";
import { DocumentError } from "../../src/html/document-error.ts";
import { compileSelector } from "../../src/html/selector/select.ts";
import { sample } from "../helpers/effort.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { selectElements } from "./selected.ts";

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

const selectors: readonly (readonly [page: keyof typeof pages, selector: string, expected: string])[] = [
  ["siblings", "p:nth-child(2n+1)", "selected"],
  ["siblings", "p:nth-of-type(2n+1):nth-last-of-type(3n)", "selected"],
  ["siblings", ":nth-last-child(odd of :not(:is(p ~ p ~ p)))", "selected"],
  ["siblings", "x ~ p", "selected"],
  ["siblings", times("p", 64, " ~ "), "TOO_MANY_MATCHES"],
  ["siblings", times("p", 64, " + "), "TOO_MANY_MATCHES"],
  ["siblings", "p:has(~ x)", "selected"],
  ["siblings", "p:has(~ p ~ p ~ x)", "selected"],
  ["siblings", "p:has(+ p:has(+ p))", "INVALID_SELECTOR"],
  ["deep", `${times("div", 63, " ")} x`, "selected"],
  ["deep", `${times("div", 30, " > ")} ${times("div", 30, " ")} x`, "selected"],
  ["deep", `:has(${times("div", 60, " ")})`, "selected"],
  ["deep", ":is(".repeat(60), "selected"],
  ["deep", times(":has(b)", 60, ""), "selected"],
  ["forest", times("div", 64, " "), "TOO_MANY_MATCHES"],
  ["forest", `${times("*", 63, " ")} x`, "selected"],
  ["forest", times(":not(div div div)", 20, ""), "selected"],
  ["forest", times(":nth-child(n of :has(p))", 30, ""), "SELECTOR_TOO_COSTLY"],
  ["icons", "*", "TOO_MANY_MATCHES"],
  ["icons", times("i", 64, ","), "TOO_MANY_MATCHES"],
  ["icons", times("* ~ *", 32, ","), "TOO_MANY_MATCHES"],
  ["icons", times(":has(~ i)", 60, ""), "SELECTOR_TOO_COSTLY"],
  ["icons", `[${"a".repeat(4000)}]`, "selected"],
  ["icons", `:is(${"(".repeat(4000)}`, "selected"],
  ["icons", ":is(".repeat(1000), "INVALID_SELECTOR"],
  ["icons", "\\".repeat(4096), "selected"],
  ["icons", "'".repeat(4096), "INVALID_SELECTOR"],
  ["icons", "a/*".repeat(1365), "selected"],
  ["icons", `:nth-child(${"n ".repeat(2000)})`, "INVALID_SELECTOR"],
  ["comments", times("p + p", 32, ","), "selected"],
  ["comments", times(":empty", 400, ""), "SELECTOR_TOO_COSTLY"],
  ["attributes", times("[class*=b i]", 64, ","), "SELECTOR_TOO_COSTLY"],
  ["attributes", `[class$='${"a ".repeat(2000)}b']`, "selected"],
  ["attributes", times(".b", 1000, ""), "selected"],
  ["controls", ":enabled, :required, :optional, :default, :indeterminate, :checked, :read-write", "TOO_MANY_MATCHES"],
  ["controls", times("form:default", 50, ","), "selected"],
  ["directions", times(":dir(rtl)", 60, ","), "selected"],
  ["directions", times(":lang(de)", 60, ","), "selected"],
];

const documents = new Map<keyof typeof pages, SourceDocument>();

/** A page as a document, parsed once for all selectors that ask for it. */
async function documentOf(name: keyof typeof pages): Promise<SourceDocument> {
  const document = documents.get(name) ?? (await parseHtml(`<!doctype html><body>${pages[name]}`));
  documents.set(name, document);
  return document;
}

describe("selectors that are built to be slow", () => {
  it.each(sample(selectors, 13))(
    "are answered, or refused when their steps are used up: on %s, %s",
    async (name, selector, expected) => {
      expect(outcome(await documentOf(name), selector)).toBe(expected);
    },
  );
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
