import { describe, expect, it } from "vitest";
import { windows } from "../client/chromium.ts";
import { cards, expectEachCardOnce, movesOf, serveBoard, watchCards } from "./kanban-board.ts";

describe("the board of cards", { tags: ["chromium"] }, () => {
  const browser = windows();

  it("has every card once in each of four windows, whatever they move at once", async () => {
    const { url, stored } = await serveBoard();
    const opened = await Promise.all(Array.from({ length: 4 }, () => browser.open(`${url}/`)));
    for (const { page } of opened) {
      await page.waitForSelector("html.live");
      await page.evaluate(watchCards, cards);
    }
    const [first] = opened;
    await first?.page.locator("#card-1").dragTo(first.page.locator("#done"), { targetPosition: { x: 5, y: 90 } });
    await expect.poll(stored).toBe("todo card-2 card-3 doing card-4 card-5 done card-6 card-1");
    await first?.page.locator("#card-1").dragTo(first.page.locator("#card-6"), { targetPosition: { x: 9, y: 3 } });
    await expect.poll(stored).toBe("todo card-2 card-3 doing card-4 card-5 done card-1 card-6");

    await Promise.all(
      opened.map(async ({ page }, window) => {
        for (const { card, arrow } of movesOf(window)) await page.locator(card).press(`Alt+${arrow}`);
        await page.waitForSelector("html:not([aria-busy=true])");
      }),
    );
    await expectEachCardOnce(await stored(), opened);
    expect(opened.flatMap(({ problems }) => problems).filter((line) => !line.includes("status of 4"))).toEqual([]);
  });
});
