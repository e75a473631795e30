import { describe, expect, it } from "vitest";
import { folders } from "./folder.ts";

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
