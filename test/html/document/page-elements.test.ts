import { describe, expect, it } from "vitest";
import { pageElements } from "../../../src/html/document/page-elements.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

async function names(page: string): Promise<string[]> {
  return Object.keys(pageElements((await parseHtml(page)).root));
}

describe("pageElements", () => {
  it("finds what every page has, implied or not", async () => {
    expect(await names("")).toEqual(["html", "head", "body"]);
    expect(await names("<!--c--><!doctype html><html><head></head><body></body></html>")).toEqual([
      "html",
      "head",
      "body",
    ]);
  });

  it("finds no body beside a frameset", async () => {
    expect(await names("<frameset></frameset>")).toEqual(["html", "head"]);
  });
});
