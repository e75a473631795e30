import { describe, expect, it } from "vitest";
import { storages, testSite } from "../helpers/test-site.ts";

describe.each(storages)("saving an element from an editor that ends files in a line break, $where", ({ make }) => {
  const element = '<section id="news">\n  <p>first</p>\n</section>';
  const page = `<!doctype html>\n<main>\n${element}\n</main>\n`;
  const headers = { range: "selector=#news" };

  it.each(["/page.html", "/"])("answers with what then stands in %s, and with its tag", async (target) => {
    const site = await testSite(await make({ "/page.html": page, "/index.html": page }));
    const saved = await site.send("PUT", target, { headers, body: `${element.replace("first", "second")}\n` });
    const read = await site.send("GET", target, { headers });
    expect(saved.status).toBe(206);
    expect(saved.text).toBe(element.replace("first", "second"));
    expect([read.text, read.headers.etag]).toEqual([saved.text, saved.headers.etag]);
  });

  it("does not make the page grow, however often it is saved", async () => {
    const site = await testSite(await make({ "/page.html": page }));
    let etag = (await site.send("GET", "/page.html", { headers })).headers.etag ?? "";
    for (let time = 0; time < 3; time += 1) {
      const sending = { headers: { ...headers, "if-match": etag }, body: `${element}\n` };
      const saved = await site.send("PUT", "/page.html", sending);
      expect(saved.status).toBe(206);
      etag = saved.headers.etag ?? "";
      expect(await site.textAt("/page.html")).toBe(page);
    }
  });
});
