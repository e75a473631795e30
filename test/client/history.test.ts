import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { history } from "../../src/plugins/history.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { windows } from "./chromium.ts";
import { isLoaded, pageWith } from "./page-with.ts";

describe("a page with a history", { tags: ["chromium"] }, () => {
  const browser = windows();

  it("tells its versions, and takes the last change back", async () => {
    const repository = join(await temporaryDirectory(), "site.git");
    const storage = memoryStorage({ ...(await pageWith("<p id=a>old</p>")), "/other.html": "<p>" });
    const plugins = [history({ repository, ignore: ["/other.html"] })];
    const { url } = await serve({ storage, plugins, index: "page.html" });
    const { page } = await browser.open(`${url}/`);
    await page.waitForFunction(isLoaded);
    const textOf = async () => /<p id=a>(.*)<\/p>/.exec(await (await fetch(`${url}/page.html`)).text())?.[1];
    await page.evaluate(() => client.connect().edit([{ op: "setText", selector: "#a", text: "new" }]));
    expect(await textOf()).toBe("new");
    const commits = () =>
      execFileSync("git", ["--git-dir", repository, "log", "--format=%s", "main", "--", "page.html"]);
    await expect.poll(() => commits().toString()).toBe("PATCH /page.html\nFound /page.html\n");
    const versions = await page.evaluate(() => client.connect().history());
    expect(versions.map(({ summary }) => summary)).toEqual(["PATCH /page.html", "Found /page.html"]);
    await page.evaluate(() => client.connect().undo());
    expect(await textOf()).toBe("old");
    const failed = await page.evaluate(() =>
      client
        .connect("/other.html")
        .history()
        .catch(({ code }) => code),
    );
    expect(failed).toBe("NOT_FOUND");
  });
});
