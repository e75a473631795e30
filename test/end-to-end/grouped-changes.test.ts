import { describe, expect, it } from "vitest";
import { metrics } from "../../src/plugins/metrics.ts";
import { storages, testSite } from "../helpers/test-site.ts";

describe.each(storages)("clients that change one file at the same time $where", ({ make }) => {
  it("are each answered and told of, one bad edit among them", async () => {
    const site = await testSite(await make({ "/page.html": "<ul></ul><p id=a>old</p>" }));
    const item = (i: number): string => (i === 5 ? "<li><b>unclosed</li>" : `<li>${i}</li>`);
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) =>
        site.send("POST", "/page.html", { headers: { range: "selector=ul" }, body: item(i) }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 16 }, (_, i) => (i === 5 ? 400 : 206)));
    const page = (await site.textAt("/page.html")) ?? "";
    expect(page.match(/<li>\d+<\/li>/g)).toHaveLength(15);
    const told = site.changes.map(({ html }) => html);
    expect(told.join("")).toBe(/<ul>(.*)<\/ul>/.exec(page)?.[1]);
    const tags = site.changes.map(({ etag }) => etag);
    expect(new Set(tags).size).toBe(15);
    expect((await site.send("GET", "/page.html")).headers["etag"]).toBe(tags.at(-1));
    const old = await site.send("PUT", "/page.html", { headers: { "if-match": tags[0] ?? "" }, body: "<p>" });
    expect(old.status).toBe(412);
  });

  it("have the page parsed once, not by each that finds it changed", async () => {
    const items = Array.from({ length: 200 }, (_, i) => `<li>${i}`).join("");
    const site = await testSite(await make(), { plugins: [metrics()] });
    await site.send("PUT", "/page.html", { body: `<title>old</title><ul>${items}</ul>` });
    const title = { range: "selector=title" };
    await site.send("GET", "/page.html", { headers: title });
    const client = async (name: number): Promise<void> => {
      for (let turn = 0; turn < 12; turn += 1) {
        const sending = { headers: title, body: `<title>${name} ${turn}</title>` };
        expect((await site.send("PUT", "/page.html", sending)).status).toBe(206);
      }
    };
    await Promise.all([1, 2, 3].map(client));
    const { text } = await site.send("GET", "/metrics");
    expect(text).toContain("\ndocument_cache_misses_total 1\n");
  });
});
