import { describe, expect, it } from "vitest";
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
});
