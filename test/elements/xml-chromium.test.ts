import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseDocument } from "../../src/html/document/parse-document.ts";
import { sharedChromium } from "../helpers/chromium.ts";
import { done } from "../helpers/done.ts";
import { elementsOf } from "./pages.ts";
import { illFormed, wellFormed } from "./xml-samples.ts";

/** All elements of a document: local name, namespace, attributes, own text. `"refused"` if not well-formed. */
async function ownReading(source: string): Promise<unknown> {
  try {
    const document = await done(parseDocument("xml", Buffer.from(source)));
    return elementsOf(document).map(({ name, namespace, attribs, children }) => [
      name,
      namespace,
      Object.entries(attribs),
      children.map((child) => (child.type === "text" ? child.data : "")).join(""),
    ]);
  } catch {
    return "refused";
  }
}

/** The same; runs in the browser. */
function browserReading(source: string): unknown {
  const parsed = new DOMParser().parseFromString(source, "application/xml");
  if (!parsed.documentElement || parsed.querySelector("parsererror")) return "refused";
  return [...parsed.querySelectorAll("*")].map((element) => [
    element.localName,
    element.namespaceURI ?? "",
    [...element.attributes].map(({ name, value }) => [name, value]),
    [...element.childNodes]
      .map((node) => (node instanceof CharacterData && node.nodeType !== 8 && node.nodeType !== 7 ? node.data : ""))
      .join(""),
  ]);
}

describe("XML in Chromium", { tags: ["chromium"] }, () => {
  let page: Page;
  beforeAll(async () => {
    page = await (await sharedChromium()).newPage();
  });
  afterAll(() => page.close());

  it("is read as here, and refused where it is refused here", async () => {
    const differing: string[] = [];
    for (const source of [...wellFormed, ...illFormed]) {
      const [own, theirs] = [await ownReading(source), await page.evaluate(browserReading, source)];
      if (JSON.stringify(own) !== JSON.stringify(theirs)) differing.push(source);
    }
    expect(differing).toEqual([]);
  });
});
