import { describe, expect, it } from "vitest";
import { folders } from "./folder.ts";

describe("previews", { tags: ["chromium"] }, () => {
  const open = folders();
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"/>';

  it("show text, with the space bar or the button, and the listing again with Escape", async () => {
    const { page, problems } = await open({ "/a.txt": "one <b>two</b>" });
    await page.getByRole("link", { name: "a.txt" }).focus();
    await page.keyboard.press(" ");
    const dialog = page.getByRole("dialog", { name: "a.txt" });
    expect(await dialog.locator("pre").textContent()).toBe("one <b>two</b>");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "View a.txt" }).click();
    await dialog.waitFor();
    expect(problems).toEqual([]);
  });

  it("show pictures, and PDF in a frame", { tags: ["campaign"] }, async () => {
    const { page } = await open({ "/a.svg": picture, "/b.pdf": "%PDF-1.4" });
    await page.getByRole("button", { name: "View a.svg" }).click();
    const image = page.getByRole("img", { name: "a.svg" });
    await expect.poll(() => image.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(40);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "View b.pdf" }).click();
    expect(await page.locator("dialog iframe").getAttribute("src")).toMatch(/\/b\.pdf$/);
  });

  it("show the beginning of a long text, and say so", { tags: ["campaign"] }, async () => {
    const { page } = await open({ "/a.txt": "x".repeat(300_000) });
    await page.getByRole("button", { name: "View a.txt" }).click();
    await page.getByText("only the beginning").waitFor();
    expect(await page.locator("dialog pre").textContent()).toHaveLength(200_000);
  });

  it("show Markdown as text where making HTML of it takes too long, and never stand still", async () => {
    const costly = "*a_".repeat(10_000);
    const { page } = await open({ "/a.md": costly });
    await page.clock.install();
    const working = page.waitForEvent("worker");
    await page.getByRole("button", { name: "View a.md" }).click();
    await working; // not the page, which answers meanwhile
    const shown = page.locator("dialog pre");
    await expect
      .poll(async () => {
        await page.clock.fastForward(5_000);
        return shown.count();
      })
      .toBe(1);
    expect(await shown.textContent()).toBe(costly);
    await expect.poll(() => page.workers()).toEqual([]);
  });

  it("show a README below the listing, whose markup does nothing", async () => {
    const readme =
      "# Hello\n\n<img src=x onerror=alert(1)> [bad](javascript:alert(1)) [good](a.txt)\n\n| a |\n|---|\n| b |\n";
    const { page, problems, names } = await open({ "/README.md": readme, "/a.txt": "" });
    const section = page.locator(".readme");
    await section.getByRole("heading", { name: "Hello" }).waitFor();
    expect(await section.locator("img").count()).toBe(0);
    expect(await section.locator("a").evaluateAll((links) => links.map((link) => link.getAttribute("href")))).toEqual([
      "",
      "a.txt",
    ]);
    expect(await section.locator("td").allTextContents()).toEqual(["b"]);
    expect(await names()).toEqual(["a.txt", "README.md"]); // tables in it are no entries
    expect(problems).toEqual([]);
  });
});
