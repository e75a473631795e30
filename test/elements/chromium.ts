import type { Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { pageTimeout, sharedChromium } from "../helpers/chromium.ts";
import type { Selected } from "./selected.ts";

/** A page in Chromium. */
export interface BrowserPage {
  /** The names of all elements in document order. */
  names(): Promise<string[]>;
  select(selectors: readonly string[]): Promise<Selected[]>;
  /** The trees that pages have in a frame of this one, as html5lib writes them. */
  trees(pages: readonly string[]): Promise<string[]>;
}

/** Chromium without a network, for the tests of a `describe`: pages get nothing that they ask for. */
export function offlineChromium(): { open(bytes: Buffer): Promise<BrowserPage> } {
  let page: Page;
  let served: Buffer = Buffer.alloc(0);
  beforeAll(async () => {
    page = await (await sharedChromium()).newPage();
    page.setDefaultTimeout(pageTimeout);
    await page.route("**", (route) => {
      if (route.request().url() !== "http://page.test/" || !route.request().isNavigationRequest()) return route.abort();
      // The page's scripts do not run, and yet scripting counts as enabled, so that `noscript` holds text as it does
      // for every visitor. In a sandbox, or with JavaScript switched off, its content would be elements.
      const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": "script-src 'none'" };
      return route.fulfill({ body: served, headers });
    });
  });
  afterAll(() => page.close());
  return {
    async open(bytes) {
      served = bytes;
      await page.goto("http://page.test/", { waitUntil: "domcontentloaded" });
      await page.mouse.move(-1, -1); // nothing is hovered
      return {
        names: () => page.evaluate(() => [...document.querySelectorAll("*")].map(({ localName }) => localName)),
        select: (selectors) => page.evaluate(selectAll, selectors),
        trees: (pages) => page.evaluate(dumpAll, pages),
      };
    },
  };
}

/** Runs in the browser. */
function selectAll(selectors: readonly string[]): Selected[] {
  const numbers = new Map([...document.querySelectorAll("*")].map((element, index) => [element, index]));
  return selectors.map((selector) => {
    try {
      return [...document.querySelectorAll(selector)].map((element) => numbers.get(element) ?? -1);
    } catch (error) {
      if (error instanceof DOMException && error.name === "SyntaxError") return "refused";
      throw error;
    }
  });
}

/** Runs in the browser. */
function dumpAll(pages: readonly string[]): string[] {
  const prefixes: Readonly<Record<string, string>> = {
    "http://www.w3.org/2000/svg": "svg ",
    "http://www.w3.org/1998/Math/MathML": "math ",
  };
  const linesOf = (node: Node, indent: string): string[] => {
    if (node instanceof Text || node.nodeType === 3) return [`${indent}"${node.nodeValue}"`];
    if (node.nodeType === 8) return [`${indent}<!-- ${node.nodeValue} -->`];
    if (node.nodeType === 10) {
      const { name, publicId, systemId } = node as DocumentType;
      return [`${indent}<!DOCTYPE ${name}${publicId || systemId ? ` "${publicId}" "${systemId}"` : ""}>`];
    }
    const element = node as HTMLTemplateElement;
    const attributes = [...element.attributes].map(({ name, namespaceURI, value }) => [
      namespaceURI === null ? name : name.replace(":", " "),
      value,
    ]);
    attributes.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1));
    return [
      `${indent}<${prefixes[element.namespaceURI ?? ""] ?? ""}${element.localName}>`,
      ...attributes.map(([name, value]) => `${indent}  ${name}="${value}"`),
      ...(element.content
        ? [`${indent}  content`, ...[...element.content.childNodes].flatMap((child) => linesOf(child, `${indent}    `))]
        : []),
      ...[...element.childNodes].flatMap((child) => linesOf(child, `${indent}  `)),
    ];
  };
  return pages.map((html) => {
    const frame = document.body.appendChild(document.createElement("iframe"));
    const inner = frame.contentDocument as Document;
    inner.open();
    inner.write(html);
    inner.close();
    const tree = [...inner.childNodes].flatMap((child) => linesOf(child, "| ")).join("\n");
    frame.remove();
    return tree;
  });
}
