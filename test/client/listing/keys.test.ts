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
    await page.getByText("1 of 3 entries").waitFor();
    await page.keyboard.press("Escape");
    expect(await names()).toEqual(["cherry/", "apple.txt", "Banana.txt"]);
    expect(problems).toEqual([]);
  });

  it("looks in the folders below on Enter", async () => {
    const { page, names } = await open({ ...files, "/cherry/apple pie.txt": "" });
    await page.getByLabel("Filter by name").fill("apple");
    await page.keyboard.press("Enter");
    await expect.poll(() => names()).toEqual(["apple.txt", "cherry/apple pie.txt"]);
    await page.getByRole("link", { name: "Show the folder" }).click();
    await expect.poll(() => names()).toEqual(["cherry/", "apple.txt", "Banana.txt"]);
  });

  it("finds on Enter what is beyond the first 5,000 entries, which the filter does not see", async () => {
    const many = Object.fromEntries(Array.from({ length: 5_100 }, (_, index) => [`/${index}.txt`, ""]));
    const { page, names } = await open({ ...many, "/zebra.txt": "" });
    await page.getByLabel("Filter by name").fill("zebra");
    await page.getByText("0 of 5,000 entries of this page").waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => names()).toEqual(["zebra.txt"]);
  });

  it("does not mind accents, nor how they are written", async () => {
    const { page, names } = await open({ "/caf\u00e9.txt": "", "/cafe\u0301 au lait.txt": "", "/tea.txt": "" });
    for (const typed of ["CAFE", "caf\u00e9", "cafe\u0301"]) {
      await page.getByLabel("Filter by name").fill(typed);
      expect(await names()).toHaveLength(2);
    }
  });
});

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
    await page.locator(".note").waitFor({ state: "attached" });
    await page.keyboard.press("Backspace");
    await page.waitForURL(`${url}/`);
  });
});
