import { parseFragment } from "parse5";
import { describe, expect, it } from "vitest";
import { streamItem } from "../../../src/plugins/web-socket/stream-item.ts";
import type { Change } from "../../../src/server/change-feed.ts";

/** The microdata of an item, as a browser reads it. */
function microdata(html: string): Record<string, string> {
  const [item] = parseFragment(html).childNodes as unknown as [Element];
  const attribute = (element: Element, name: string): string =>
    element.attrs.find((each) => each.name === name)?.value ?? "";
  const properties = item.childNodes.map((element) => [
    attribute(element, "itemprop"),
    element.childNodes.map(({ value }) => value).join(""),
  ]);
  return { type: attribute(item, "itemtype"), ...Object.fromEntries(properties) };
}

interface Element {
  readonly attrs: readonly { name: string; value: string }[];
  readonly childNodes: readonly (Element & { value: string })[];
}

function change(properties: Partial<Change>): Change {
  const base = { id: 1, kind: "elements-replaced", method: "PUT", host: "h", requestId: "r", time: "" } as const;
  return { ...base, path: "/a.html", ...properties };
}

const type = "http://rustybeam.net/StreamItem";

describe("streamItem", () => {
  it("has method, url, selector and content", () => {
    const html = "<li>one</li>";
    expect(microdata(streamItem(change({ selector: "#todo li", html })))).toEqual({
      type,
      method: "PUT",
      url: "/a.html",
      selector: "#todo li",
      content: html,
    });
  });

  it("leaves out what a change does not have", () => {
    expect(microdata(streamItem(change({ method: "DELETE" })))).toEqual({ type, method: "DELETE", url: "/a.html" });
  });

  it.each([
    "<tr><td>1</td></tr>",
    "<script>if (a < b && c) alert('</p>')</script>",
    "&lt;b&gt; &amp;amp; &notit; \"quoted\" 'too'",
    "one\r\ntwo\rthree\nfour\n",
    "\n<pre>\n\nx</pre>",
    "</span></div><img src=x onerror=alert(1)>",
    "\u{1f389} é \u00a0 \u2028",
  ])("keeps every character of %j", (html) => {
    expect(microdata(streamItem(change({ html, selector: html })))).toMatchObject({ content: html, selector: html });
  });

  it("spells the path as a URL", () => {
    expect(microdata(streamItem(change({ path: '/ä "b"?#.html' })))).toMatchObject({
      url: "/%C3%A4%20%22b%22%3F%23.html",
    });
  });
});
