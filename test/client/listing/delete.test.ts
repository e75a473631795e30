import { describe, expect, it } from "vitest";
import { folders } from "./folder.ts";

describe("deleting in a listing", { tags: ["chromium"] }, () => {
  const open = folders();

  it("asks, deletes with If-Match, and goes on with the next entry", async () => {
    const { page, ask, names } = await open({ "/a.txt": "", "/b.txt": "", "/c.txt": "old" }, {}, "/", {});
    page.once("dialog", (dialog) => dialog.dismiss());
    await page.getByRole("button", { name: "Delete a.txt" }).click();
    expect(await names()).toEqual(["a.txt", "b.txt", "c.txt"]);
    page.on("dialog", (dialog) => dialog.accept());
    await page.getByRole("link", { name: "b.txt" }).focus();
    await page.keyboard.press("Delete");
    await expect.poll(() => names()).toEqual(["a.txt", "c.txt"]);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("c.txt");
    await ask("PUT", "/c.txt", { body: "saved by others" });
    await page.keyboard.press("Delete");
    await page.getByText("c.txt was not deleted:").waitFor();
    expect((await ask("GET", "/c.txt")).text).toBe("saved by others");
  });

  it("is not undone by the way back", async () => {
    const { page, names, url } = await open({ "/a.txt": "", "/b.txt": "" }, {}, "/", {});
    page.once("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Delete a.txt" }).click();
    await expect.poll(() => names()).toEqual(["b.txt"]);
    await page.goto(`${url}/b.txt`);
    await page.goBack();
    await expect.poll(() => names()).toEqual(["b.txt"]);
  });
});
