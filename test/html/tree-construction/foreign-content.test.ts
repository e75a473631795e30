import { expect, it } from "vitest";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";
import { bodyOf } from "../reading.ts";

it.each([
  ["<svg><clippath viewbox=1></CLIPPATH>a</svg>b", '<svg><clipPath viewBox="1"></clipPath>a</svg>b'],
  ["<svg><g/>a<g>b</svg>c", "<svg><g></g>a<g>b</g></svg>c"],
  ["<svg><![CDATA[<b>]]></svg><![CDATA[c]]>", "<svg>&lt;b&gt;</svg><!--[CDATA[c]]-->"],
  ["<svg><title><b>a</title><p>b", "<svg><title><b>a<p>b</p></b></title></svg>"],
  ["<svg><p>a</svg>b", "<svg></svg><p>ab</p>"],
  ["<svg></p>a", "<svg></svg><p></p>a"],
  ["<svg></br>a", "<svg></svg><br>a"],
  ["<svg><font>a</font><font color=b>c", '<svg><font>a</font></svg><font color="b">c</font>'],
  ["<svg>\0a", "<svg>\ufffda</svg>"],
  ["<svg><desc>a</x>b", "<svg><desc>ab</desc></svg>"],
  ["<math><mi><b>a</b><mglyph/></mi>", "<math><mi><b>a</b><mglyph></mglyph></mi></math>"],
  ["<math><annotation-xml><svg><p>a", "<math><annotation-xml><svg></svg></annotation-xml></math><p>a</p>"],
  [
    "<math><annotation-xml encoding=text/html><p>a",
    '<math><annotation-xml encoding="text/html"><p>a</p></annotation-xml></math>',
  ],
  ["<div><svg><g></div>a", "<div><svg><g></g></svg></div>a"],
  ["<svg><!--a--><!doctype b>c", "<svg><!--a-->c</svg>"],
])("reads %j", async (html, body) => {
  expect(await bodyOf(html)).toBe(body);
});

it("knows where the tags of such an element stand, whatever case they have", async () => {
  const source = "<svg><foreignobject>a</foreignObject></svg>";
  const element = elementsOf(await parseHtml(source)).find(({ name }) => name === "foreignObject");
  expect([element?.startIndex, element?.contentStart, element?.contentEnd, element?.endIndex]).toEqual([5, 20, 21, 36]);
});
