import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { folders } from "./folder.ts";

/** The kinds of the questions that a page asks, which are all answered with no. */
function dismissed(page: Page): readonly string[] {
  const kinds: string[] = [];
  page.on("dialog", (dialog) => {
    kinds.push(dialog.type());
    void dialog.dismiss();
  });
  return kinds;
}

describe("editing in a listing", { tags: ["chromium"] }, () => {
  const open = folders();

  it("saves a text, with the line breaks that it has", async () => {
    const { page, ask, problems } = await open({ "/a.txt": "one\r\ntwo\r\n" });
    await page.getByRole("button", { name: "Edit a.txt" }).click();
    await page.getByLabel("Content").fill("one\nthree\n");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("a.txt is saved.").waitFor();
    expect((await ask("GET", "/a.txt")).text).toBe("one\r\nthree\r\n");
    expect(problems).toEqual([]);
  });

  it("makes a new file, and does not overwrite one of that name", async () => {
    const { page, ask, names } = await open({ "/a.txt": "old" }, {}, "/", {});
    for (const name of ["b.txt", "a.txt"]) {
      page.once("dialog", (dialog) => dialog.accept(name));
      await page.getByRole("button", { name: "New file" }).click();
      await page.getByLabel("Content").fill("new");
      await page.keyboard.press("Control+s");
      if (name === "b.txt") await expect.poll(() => names()).toEqual(["a.txt", "b.txt"]);
    }
    await page.getByRole("alert").getByText("was changed meanwhile").waitFor();
    expect((await ask("GET", "/a.txt")).text).toBe("old");
    expect((await ask("GET", "/b.txt")).text).toBe("new");
  });

  it("shows what others have saved meanwhile, and replaces just that when told to", async () => {
    const { page, ask } = await open({ "/a.txt": "old" });
    await page.getByRole("button", { name: "Edit a.txt" }).click();
    await page.getByLabel("Content").fill("mine");
    for (const theirs of ["theirs", "theirs again"]) {
      await ask("PUT", "/a.txt", { body: theirs });
      await page.getByRole("button", { name: "Save" }).click();
      await expect.poll(() => page.getByRole("textbox", { name: "Theirs" }).inputValue()).toBe(theirs);
      expect((await ask("GET", "/a.txt")).text).toBe(theirs);
    }
    const questions = dismissed(page);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.keyboard.press("Escape");
    expect(questions).toEqual(["confirm", "confirm"]); // what was typed is still there
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("a.txt is saved.").waitFor();
    expect((await ask("GET", "/a.txt")).text).toBe("mine");
  });

  it("asks before Cancel, Escape, or leaving throws away what was typed, and only then", async () => {
    const { page } = await open({ "/a.txt": "one\r\ntwo" }, {}, "/", {});
    const questions = dismissed(page);
    await page.getByRole("button", { name: "Edit a.txt" }).dblclick();
    await page.getByLabel("Content").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(questions).toEqual([]);

    await page.getByRole("button", { name: "Edit a.txt" }).click();
    await page.getByLabel("Content").fill("typed");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await Promise.all([page.waitForEvent("dialog"), page.close({ runBeforeUnload: true })]);
    expect(questions).toEqual(["confirm", "confirm", "confirm", "beforeunload"]);
    expect(await page.getByLabel("Content").inputValue()).toBe("typed");
  });

  it("saves over what is not text in UTF-8 only when told to, and again what was deleted", async () => {
    const { page, ask } = await open({ "/a.txt": "old" });
    await page.getByRole("button", { name: "Edit a.txt" }).click();
    await page.getByLabel("Content").fill("mine");
    await ask("PUT", "/a.txt", { body: Buffer.from([0xff, 0xfe]) });
    await page.getByRole("button", { name: "Save" }).click();
    const theirs = page.getByRole("textbox", { name: "Theirs" });
    await expect.poll(() => theirs.inputValue()).toBe("This is not text in UTF-8.");
    await ask("DELETE", "/a.txt");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByText("The file was deleted meanwhile").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("a.txt is saved.").waitFor();
    expect((await ask("GET", "/a.txt")).text).toBe("mine");
  });

  it("keeps a text that the server refuses", { tags: ["campaign"] }, async () => {
    const { page } = await open({ "/a.txt": "old" }, { maxFileSize: 10 });
    await page.getByRole("button", { name: "Edit a.txt" }).click();
    await page.getByLabel("Content").fill("more than ten bytes");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByText("10 bytes").waitFor();
    expect(await page.getByLabel("Content").inputValue()).toBe("more than ten bytes");
  });
});
