import { cp } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { webSocket } from "../../src/plugins/web-socket.ts";
import { windows } from "../client/chromium.ts";
import { seedOf, timesOf } from "../helpers/effort.ts";
import { send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const cards = 6;

declare global {
  /** Numbers of cards that a window has shown, whenever that was wrong. */
  var wrong: string[];
}

/** The cards of a page, list by list. */
function boardOf(html: string): string {
  return [...html.matchAll(/<ul id="(\w+)"|<li id="(card-\d+)"/g)].map(([, list, card]) => list ?? card).join(" ");
}

/** Numbers below `limit` that are the same in each run. */
function random(seed: number): (limit: number) => number {
  let state = seedOf(seed);
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

describe("the board of cards", { tags: ["chromium"] }, () => {
  const browser = windows();

  it("has every card once in each of four windows, whatever they move at once", async () => {
    const root = join(await temporaryDirectory(), "site");
    await cp(join(projectRoot, "examples/kanban/site"), root, { recursive: true });
    const { url } = await serve({ root, client: true, plugins: [webSocket()] });
    const stored = async (): Promise<string> => boardOf((await send(url, "GET", "/index.html")).text);
    const opened = await Promise.all(Array.from({ length: 4 }, () => browser.open(`${url}/`)));
    for (const { page } of opened) {
      await page.waitForSelector("html.live");
      await page.evaluate((count) => {
        globalThis.wrong = [];
        const look = (): void => {
          const ids = [...document.querySelectorAll("li")].map(({ id }) => id).sort();
          if (ids.length !== count || new Set(ids).size !== count) wrong.push(ids.join(" "));
        };
        new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
      }, cards);
    }
    const [first] = opened;
    await first?.page.locator("#card-1").dragTo(first.page.locator("#done"), { targetPosition: { x: 5, y: 90 } });
    await expect.poll(stored).toBe("todo card-2 card-3 doing card-4 card-5 done card-6 card-1");
    await first?.page.locator("#card-1").dragTo(first.page.locator("#card-6"), { targetPosition: { x: 9, y: 3 } });
    await expect.poll(stored).toBe("todo card-2 card-3 doing card-4 card-5 done card-1 card-6");

    const moves = timesOf(3, 50);
    await Promise.all(
      opened.map(async ({ page }, window) => {
        const pick = random(24 + window);
        for (let move = 0; move < moves; move += 1) {
          const arrow = ["Up", "Down", "Left", "Right"][pick(4)];
          await page.locator(`#card-${1 + pick(cards)}`).press(`Alt+Arrow${arrow}`);
        }
        await page.waitForSelector("html:not([aria-busy=true])");
      }),
    );
    const last = await stored();
    expect(last.match(/card-\d/g)?.sort()).toEqual(Array.from({ length: cards }, (_, i) => `card-${i + 1}`));
    for (const { page, problems } of opened) {
      await expect.poll(async () => boardOf(await page.content())).toBe(last);
      expect(await page.evaluate(() => wrong)).toEqual([]);
      expect(problems.filter((problem) => !problem.includes("status of 4"))).toEqual([]);
    }
  });
});
