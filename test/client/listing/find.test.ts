import { describe, expect, it } from "vitest";
import { folders } from "./folder.ts";

describe("finding entries", { tags: ["chromium"] }, () => {
  const open = folders();
  const files = { "/apple.txt": "", "/Banana.txt": "", "/cherry/pit.txt": "" };

  it("shows the names with what is typed, which / begins and Escape ends", async () => {
    const { page, names, problems } = await open(files);
    await page.keyboard.press("/");
    await page.keyboard.type("AN");
    expect(await names()).toEqual(["Banana.txt"]);
    await page.keyboard.press("Escape");
    expect(await names()).toEqual(["cherry/", "apple.txt", "Banana.txt"]);
    expect(problems).toEqual([]);
  });

  it("goes with the arrows over what is shown, opens with Enter, and goes up with Backspace", async () => {
    const { page, url } = await open(files);
    const focused = (): Promise<string | null> => page.evaluate(() => document.activeElement?.textContent ?? null);
    await page.getByLabel("Filter by name").fill("e");
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe("cherry/");
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe("apple.txt");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${url}/cherry/`);
    await page.locator(".bar").waitFor();
    await page.keyboard.press("Backspace");
    await page.waitForURL(`${url}/`);
  });
});
