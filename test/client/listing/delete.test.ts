import { describe, expect, it } from "vitest";
import { folders, type OpenFolder } from "./folder.ts";

describe("deleting in a listing", { tags: ["chromium"] }, () => {
  const openFolder = folders();

  /** A folder in a window whose clock stands still: what can be had back for some seconds stays so on a slow machine, too. */
  async function open(files: Record<string, string>): Promise<OpenFolder> {
    const folder = await openFolder(files, {}, "/", {});
    await folder.page.clock.install();
    await folder.page.clock.pauseAt(Date.now() + 60_000);
    return folder;
  }

  it("happens when there was time to have it back", async () => {
    const { page, ask, names } = await open({ "/a.txt": "", "/b.txt": "" });
    await page.getByRole("button", { name: "Delete a.txt" }).click();
    expect(await names()).toEqual(["b.txt"]);
    expect((await ask("HEAD", "/a.txt")).status).toBe(200);
    await page.getByRole("button", { name: "Undo" }).click();
    expect(await names()).toEqual(["a.txt", "b.txt"]);

    await page.getByRole("link", { name: "b.txt" }).focus();
    await page.keyboard.press("Delete");
    await page.goto("about:blank"); // whoever leaves has decided
    await expect.poll(async () => (await ask("HEAD", "/b.txt")).status).toBe(404);
    expect((await ask("HEAD", "/a.txt")).status).toBe(200);
  });

  it("has back all that was deleted shortly before, which nothing else shows meanwhile", async () => {
    const { page, ask, names } = await open({ "/a.txt": "", "/b.txt": "", "/c.txt": "" });
    await page.getByRole("button", { name: "Delete a.txt" }).click();
    await page.keyboard.press("Delete"); // the next entry has the focus
    await page.getByText("2 entries will be deleted.").waitFor();
    await page.getByLabel("Filter by name").fill("t");
    expect(await names()).toEqual(["c.txt"]);
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles({ name: "d.txt", mimeType: "", buffer: Buffer.from("") });
    await expect.poll(() => names()).toEqual(["c.txt", "d.txt"]); // the listing was read again
    await page.getByRole("button", { name: "Undo" }).click();
    expect(await names()).toEqual(["a.txt", "b.txt", "c.txt", "d.txt"]);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("b.txt");
    expect((await ask("HEAD", "/a.txt")).status).toBe(200);
  });

  it("leaves what was saved meanwhile, and waits for each entry by itself", async () => {
    const { page, ask, names } = await open({ "/a.txt": "old", "/b.txt": "" });
    await page.getByRole("button", { name: "Delete a.txt" }).click();
    await ask("PUT", "/a.txt", { body: "new" });
    await page.clock.runFor(5_000);
    await page.getByRole("button", { name: "Delete b.txt" }).click();
    await page.clock.runFor(4_000);
    await page.getByText("a.txt was not deleted:").waitFor();
    await page.getByText("b.txt will be deleted.").waitFor();
    expect((await ask("GET", "/a.txt")).text).toBe("new");
    await page.clock.runFor(5_000);
    await page.getByText("Deleted: b.txt.").waitFor();
    expect(await names()).toEqual(["a.txt"]);
  });

  it("is not undone by the way back", async () => {
    const { page, ask, names, url } = await openFolder({ "/a.txt": "", "/b.txt": "" }, {}, "/", {});
    await page.getByRole("button", { name: "Delete a.txt" }).click();
    await page.goto(`${url}/b.txt`);
    await expect.poll(async () => (await ask("HEAD", "/a.txt")).status).toBe(404);
    await page.goBack();
    await expect.poll(() => names()).toEqual(["b.txt"]);
  });

  it("says why something is still there, and shows it again", { tags: ["campaign"] }, async () => {
    const { page, names } = await open({ "/folder/a.txt": "" });
    await page.getByRole("button", { name: "Delete folder" }).click();
    expect(await names()).toEqual([]);
    await page.clock.runFor(9_000);
    await page.getByText("folder was not deleted: The directory is not empty; nothing was deleted.").waitFor();
    expect(await names()).toEqual(["folder/"]);
  });
});
