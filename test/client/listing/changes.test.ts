import { describe, expect, it } from "vitest";
import { folders } from "./folder.ts";

describe("changes in a listing", { tags: ["chromium"] }, () => {
  const open = folders();

  it("ask before they delete, delete with If-Match, and go on with the next entry", async () => {
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

  it("are not undone by the way back", async () => {
    const { page, names, url } = await open({ "/a.txt": "", "/b.txt": "" }, {}, "/", {});
    page.once("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Delete a.txt" }).click();
    await expect.poll(() => names()).toEqual(["b.txt"]);
    await page.goto(`${url}/b.txt`);
    await page.goBack();
    await expect.poll(() => names()).toEqual(["b.txt"]);
  });

  it("rename and move files and folders, but not over another one", async () => {
    const { page, ask, names } = await open({ "/a.txt": "a", "/b.txt": "b", "/c/d.txt": "" }, {}, "/", {});
    for (const [path, said] of [
      ["b.txt", "a.txt was not moved:"],
      ["c/ä?.txt", "Moved: a.txt to c/ä?.txt."],
    ] as const) {
      page.once("dialog", (dialog) => dialog.accept(path));
      await page.getByRole("button", { name: "Move a.txt" }).click();
      await page.getByText(said).waitFor();
    }
    expect(await names()).toEqual(["c/", "b.txt"]);
    expect((await ask("GET", "/c/%C3%A4%3F.txt")).text).toBe("a");
    expect((await ask("GET", "/b.txt")).text).toBe("b");
    page.once("dialog", (dialog) => dialog.accept("e"));
    await page.getByRole("button", { name: "Move c", exact: true }).click();
    await page.getByText("Moved: c to e.").waitFor();
    expect(await names()).toEqual(["e/", "b.txt"]);
    expect((await ask("GET", "/e/%C3%A4%3F.txt")).text).toBe("a");
  });

  it("make a folder, and delete one with all that is in it", async () => {
    const { page, ask, names } = await open({ "/c/d.txt": "", "/c/e/f.txt": "" }, {}, "/", {});
    page.once("dialog", (dialog) => dialog.accept("new"));
    await page.getByRole("button", { name: "New folder" }).click();
    await expect.poll(() => names()).toEqual(["c/", "new/"]);
    page.on("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Delete c", exact: true }).click();
    await page.getByText("Deleted: c.").waitFor();
    expect(await names()).toEqual(["new/"]);
    expect((await ask("GET", "/c/e/f.txt")).status).toBe(404);
  });

  it("stop in the middle of a folder, and leave what others have changed in it", async () => {
    const { page, ask, names } = await open({ "/c/d.txt": "", "/c/e.txt": "" }, {}, "/", {});
    page.on("dialog", (dialog) => dialog.accept());
    await page.route("**/c/d.txt", async (route) => {
      await page.getByRole("button", { name: "Stop" }).click();
      await route.continue();
    });
    await page.getByRole("button", { name: "Delete c", exact: true }).click();
    await page.getByText("c was not deleted: You have stopped it.").waitFor();
    await page.route("**/c/e.txt", async (route) => {
      await ask("PUT", "/c/e.txt", { body: "new" });
      await route.continue();
    });
    await page.getByRole("button", { name: "Delete c", exact: true }).click();
    await page.getByText(/c was not deleted: (?!You)/).waitFor();
    expect((await ask("GET", "/c/e.txt")).text).toBe("new");
    expect(await names()).toEqual(["c/"]);
  });
});

describe("selected entries", { tags: ["chromium"] }, () => {
  const open = folders();

  it("are moved, deleted or downloaded together", async () => {
    const files = { "/a.txt": "a", "/b.txt": "b", "/c/d.txt": "", "/e/f.txt": "" };
    const { page, ask, names } = await open(files, { listing: { edit: true, zip: true } }, "/", {});
    const select = (name: string) => page.getByLabel(`Select ${name}`, { exact: true }).check();
    await select("a.txt");
    await select("b.txt");
    await page.getByText("2 selected").waitFor();
    page.once("dialog", (dialog) => dialog.accept("c/"));
    await page.getByRole("button", { name: "Move", exact: true }).click();
    await page.getByText("Moved: 2 entries to c.").waitFor();
    expect([await names(), (await ask("GET", "/c/b.txt")).text]).toEqual([["c/", "e/"], "b"]);
    await select("c");
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download as .zip" }).click();
    expect((await downloading).url()).toMatch(/\?zip&name=c$/);
    await select("e");
    page.once("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("Deleted: 2 entries.").waitFor();
    expect(await names()).toEqual([]);
  });
});
