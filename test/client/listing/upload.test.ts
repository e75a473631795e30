import { describe, expect, it } from "vitest";
import { folders, type OpenFolder } from "./folder.ts";

describe("uploads", { tags: ["chromium"] }, () => {
  const open = folders();
  const file = (name: string, content = "hello") => ({ name, mimeType: "text/plain", buffer: Buffer.from(content) });
  const choose = ({ page }: OpenFolder, ...files: ReturnType<typeof file>[]): Promise<void> =>
    page.locator(".bar > input[type=file]").first().setInputFiles(files);
  const states = ({ page }: OpenFolder): Promise<string[]> => page.locator(".uploads .state").allTextContents();

  it("put several files where they belong, and list them", async () => {
    const folder = await open({ "/b/x.txt": "" }, {}, "/b/");
    await choose(folder, file("one.txt"), file("über uns?.txt"), file("three.txt"), file("four.txt"));
    await expect.poll(() => states(folder)).toEqual(["done", "done", "done", "done"]);
    const bars = await folder.page
      .getByRole("progressbar")
      .evaluateAll((all) => all.map((bar) => [bar.ariaLabel, (bar as HTMLProgressElement).value]));
    expect(bars).toEqual(["one.txt", "über uns?.txt", "three.txt", "four.txt"].map((name) => [name, 1]));
    await expect.poll(() => folder.names()).toEqual(["four.txt", "one.txt", "three.txt", "über uns?.txt", "x.txt"]);
    expect((await folder.ask("GET", "/b/%C3%BCber%20uns%3F.txt")).text).toBe("hello");
    expect(folder.problems).toEqual([]);
  });

  it("replace nothing without being told to", async () => {
    const folder = await open({ "/a.txt": "old" });
    await choose(folder, file("a.txt", "new"));
    await expect.poll(() => states(folder)).toEqual(["There is a file of that name."]);
    expect((await folder.ask("GET", "/a.txt")).text).toBe("old");
    await folder.page.getByRole("button", { name: "Replace it" }).click();
    await expect.poll(() => states(folder)).toEqual(["done"]);
    expect((await folder.ask("GET", "/a.txt")).text).toBe("new");
  });

  it("say why the server refuses a file", async () => {
    const folder = await open({}, { maxFileSize: 10 });
    await choose(folder, file("a.txt", "more than ten bytes"), file("b.txt", "few"));
    await expect.poll(() => states(folder)).toEqual([expect.stringContaining("10 bytes"), "done"]);
    await expect.poll(() => folder.names()).toEqual(["b.txt"]);
  });

  it("show what was refused first, without a full bar, also of 200 files", async () => {
    const folder = await open({ "/199.txt": "" });
    await choose(folder, ...Array.from({ length: 200 }, (_, index) => file(`${index}.txt`)));
    const refused = "There is a file of that name.";
    await expect.poll(() => states(folder)).toEqual([refused, ...Array<string>(199).fill("done")]);
    expect(await folder.page.getByRole("progressbar", { name: "199.txt" }).count()).toBe(0);
    await expect.poll(() => folder.page.getByText(refused).boundingBox()).toMatchObject({ y: expect.any(Number) });
    const { y = 0 } = (await folder.page.getByText(refused).boundingBox()) ?? {};
    expect(y).toBeLessThan(folder.page.viewportSize()?.height ?? 0);
  });

  it("are not ended by leaving the page without a question", async () => {
    const { page, ...folder } = await open({}, {}, "/", {});
    await page.route("**/slow.bin", () => {}); // never gets to the server
    await choose({ page, ...folder }, file("slow.bin"));
    // Not `page.close({ runBeforeUnload: true })`, at which Chromium crashes once in a while.
    const leave = page.evaluate(() => void setTimeout(() => location.assign("about:blank")));
    const [dialog] = await Promise.all([page.waitForEvent("dialog"), leave]);
    expect(dialog.type()).toBe("beforeunload");
    await dialog.dismiss();
    expect(page.url()).not.toBe("about:blank");
  });

  it("can be cancelled, and leave nothing", { tags: ["campaign"] }, async () => {
    const folder = await open({});
    const { page } = folder;
    await page.route("**/slow.bin", () => {}); // never gets to the server
    await choose(folder, file("slow.bin", "x"));
    await page.getByRole("button", { name: "Cancel" }).click();
    await expect.poll(() => states(folder)).toEqual(["cancelled"]);
    expect((await folder.ask("GET", "/slow.bin")).status).toBe(404);
  });

  it("take files and whole folders that are dropped on the page, and leave text to its fields", async () => {
    const folder = await open({});
    const taken = await folder.page.evaluate(() => {
      const entry = (path: string): FileSystemEntry => {
        const name = path.replace(/.*\//, "");
        const found = new File([path], name);
        if (path.endsWith(".txt"))
          return { isFile: true, name, file: (done: (file: File) => void) => done(found) } as never;
        const batches = [[entry("one.txt"), entry("deep/two.txt")], []];
        const readEntries = (done: (entries: FileSystemEntry[]) => void): void => done(batches.shift() ?? []);
        return { isFile: false, name, createReader: () => ({ readEntries }) } as never;
      };
      const items = ["a.txt", "folder"].map((path) => ({ webkitGetAsEntry: () => entry(path) }));
      return ["text/plain", "Files"].map((type) => {
        const event = new Event("drop", { cancelable: true });
        Object.defineProperty(event, "dataTransfer", { value: { items, types: [type] } });
        return !document.dispatchEvent(event);
      });
    });
    expect(taken).toEqual([false, true]);
    await expect.poll(() => states(folder)).toEqual(["done", "done", "done"]);
    expect((await folder.ask("GET", "/folder/two.txt")).text).toBe("deep/two.txt");
    await expect.poll(() => folder.names()).toEqual(["folder/", "a.txt"]);
  });

  it("are offered to those only who may add files", { tags: ["campaign"] }, async () => {
    for (const config of [{ readOnly: true }, { listing: true }]) {
      const { page } = await open({ "/a.txt": "" }, config);
      expect(await page.getByRole("button", { name: /Upload|New|Edit|Delete/ }).count()).toBe(0);
    }
  });
});
