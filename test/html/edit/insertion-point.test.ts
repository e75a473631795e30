import { describe, expect, it } from "vitest";
import { insertionPoint } from "../../../src/html/edit/insertion-point.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

/** The page with a mark where content is added to the first element of a name. */
async function marked(page: string, name: string): Promise<string | undefined> {
  const document = await parseHtml(page);
  const element = elementsOf(document).find((each) => each.name === name);
  const point = element && insertionPoint(document, element);
  return point === undefined ? undefined : `${page.slice(0, point)}^${page.slice(point)}`;
}

describe("insertionPoint", () => {
  it.each([
    ["<p>a</p>", "p", "<p>a^</p>"],
    ["<p>a<div>", "p", "<p>a^<div>"],
    ["<body>a</body></html>", "body", "<body>a^</body></html>"],
    ["<body>a</body></html>", "html", "<body>a^</body></html>"],
    ["a</body></html>\n", "body", "a^</body></html>\n"],
    ["a</body>b\n", "body", "a</body>b\n^"],
    ["a<!--b-->", "body", "a<!--b-->^"],
    ["<p>a</p>", "head", "^<p>a</p>"],
    ["<title>t</title> <p>", "head", "<title>t</title>^ <p>"],
    ["<head></head>", "head", "<head>^</head>"],
    ["", "body", "^"],
  ])("of %j for %s is %j", async (page, name, expected) => {
    expect(await marked(page, name)).toBe(expected);
  });

  it.each([
    ["<br>", "br"],
    ["<table><td>", "tbody"],
    ["<b>1<p>2</b>3</p>", "b"],
    ["<frameset></frameset>", "html"],
  ])("is nowhere in %j for %s", async (page, name) => {
    expect(await marked(page, name)).toBeUndefined();
  });
});
