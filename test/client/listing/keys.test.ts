import { describe, expect, it } from "vitest";
import { folders } from "./folder.ts";

describe("keys in a listing", { tags: ["chromium"] }, () => {
  const open = folders();

  it("go with the arrows over what is shown, open with Enter, and go up with Backspace", async () => {
    const { page, url } = await open({ "/apple.txt": "", "/Banana.txt": "", "/cherry/pit.txt": "" });
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
