import { describe, expect, it } from "vitest";
import { send, serveOne } from "./editing.ts";

describe("elementFinder", () => {
  it.each([
    ["maxMatches", 2, "p", 400, "TOO_MANY_MATCHES"],
    ["maxSelectorLength", 8, "p, p, p, p", 400, "INVALID_SELECTOR"],
    ["maxSelectorCompounds", 2, "p, p, p", 400, "INVALID_SELECTOR"],
  ])("bounds selectors by the option %s", async (option, limit, selector, status, code) => {
    const page = "<p>1<p>2<p>3";
    const free = serveOne(page);
    const bound = serveOne(page, { [option]: limit });
    expect((await send(free, "GET", selector)).status).toBe(206);
    const refused = await send(bound, "GET", selector);
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([status, code]);
    await Promise.all([free.close(), bound.close()]);
  });

  it("decodes percent escapes only where the text does not parse as it stands", async () => {
    const files = serveOne("<p id=a title='%20'>1</p>");
    for (const selector of ["%23a", '[title="%20"]']) {
      expect(await (await send(files, "GET", selector)).text()).toBe("<p id=a title='%20'>1</p>");
    }
    await files.close();
  });

  it("tells what is wrong with the text as it stands", async () => {
    const files = serveOne("<p>1");
    expect(await (await send(files, "GET", "p:foo%20")).json()).toMatchObject({
      code: "INVALID_SELECTOR",
      details: expect.stringContaining('":foo%20"'),
    });
    await files.close();
  });

  it("bounds the work of an evaluation", async () => {
    const files = serveOne(`<p>${"<b><i></i></b>".repeat(20_000)}`, { maxSelectionSteps: 100_000 });
    const reply = await send(files, "GET", "p:has(b:nth-last-of-type(7) > i:nth-child(n+2)) b:not(p *, i ~ i)");
    expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([503, "SELECTOR_TOO_COSTLY"]);
    await files.close();
  });
});
