import { describe, expect, it } from "vitest";
import { windows } from "./chromium.ts";
import { openPage } from "./page-with.ts";

const pages = [
  "<!doctype html><p>a</p><noscript><li>b</noscript><p>c</p>",
  "<!doctype html><head><noscript><link rel=stylesheet href=x></noscript><title>t</title></head><p>a",
  "<!doctype html><head><noscript><img></noscript><noscript>b</noscript><title>t</title></head><p>a",
  "<!doctype html><head><title>t</title></head>\n<noscript><p>b</p></noscript><body class=x><p>a",
  "<!doctype html><p><b>a</p><noscript><i>b</noscript>c",
  "<table><tr><noscript class=n id='>'><td>a</noscript><td>b</table>",
  "<noscript>a\r\nb\0<noembed>c</noembed><!-- </noscript><p>d --><noscript><img></noscript>",
  "<script type=x><noscript></script><!-- <noscript> --><p title='<noscript>'>a</p><noscript><b>b</noscript>",
  "<noembed><noscript>a</noembed><iframe></noscript></iframe><noscript><iframe></noscript><p>a<noscript>b</noscript>",
  "<noscripts>a</noscripts><NOSCRIPT >a</noscripts></NoScript\n>b</noscript><p>c<noscript>to the end<p>",
  "<svg><g></g></svg><noscript data-x=1 b=2>c</noscript>\n</body>\n</html>\n",
];

describe("parsePage", { tags: ["chromium"] }, () => {
  const browser = windows();

  it("gives the tree of a page that is open with scripting on, and loads nothing", async () => {
    const { page, problems } = await openPage(browser, "", ["parse-page"]);
    const trees = await page.evaluate((given) => {
      return given.map((html) => {
        const frame = document.createElement("iframe");
        document.body.append(frame);
        // In this document, as in an open one, `noscript` is written out as text.
        const copy = document.importNode(parts["parse-page"].parsePage(html).documentElement, true).outerHTML;
        frame.contentDocument?.open();
        frame.contentDocument?.write(html);
        frame.contentDocument?.close();
        const open = frame.contentDocument?.documentElement.outerHTML;
        frame.remove();
        return [copy, open];
      });
    }, pages);
    for (const [copy, open] of trees) expect(copy).toBe(open);
    expect(problems.filter((problem) => !problem.includes("404"))).toEqual([]);
  });
});
