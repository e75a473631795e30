import { afterAll, describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { seededRandom, timesOf } from "../helpers/effort.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { send } from "./editing.ts";
import { elementsOf, realPages, selectorOf } from "./pages.ts";

/** In the campaign, fifteen for each page are the 3,870 of docs/internals/decisions.md. */
const perPage = timesOf(3, 15);
const figures = { deletions: 0, asTheyStood: 0, normalised: 0 };

afterAll(() => {
  const { deletions, asTheyStood, normalised } = figures;
  console.info(`${deletions} deletions: ${asTheyStood} as the page stood, ${normalised} normalised`);
});

/** A storage that shows what an update would write, and leaves the file as it is. */
function unchanging(storage: Storage): Storage {
  return {
    ...storage,
    async update(path, edit) {
      const file = await storage.open(path);
      if (!file) throw new Error("the page is gone");
      await edit(() => file.bytes(), file.stat);
      return { created: false, changed: false, stat: file.stat };
    },
  };
}

describe("deleting random elements of real pages", () => {
  it.each(realPages())("it is proven: $name", async ({ bytes, number }) => {
    const random = seededRandom(number);
    const inBody = elementsOf(await parseHtml(bytes)).filter(({ name }) => !["html", "head", "body"].includes(name));
    const files = createFileServer({
      storage: unchanging(memoryStorage({ "/page.html": bytes })),
      maxSelectionSteps: 1_000_000_000,
    });
    for (let count = 0; count < perPage; count += 1) {
      const element = inBody[Math.floor(random() * inBody.length)];
      if (!element) continue;
      const reply = await send(files, "DELETE", selectorOf(element));
      expect(reply.status, selectorOf(element)).toBe(204);
      figures.deletions += 1;
      if (reply.headers.get("x-normalised")) figures.normalised += 1;
      else figures.asTheyStood += 1;
    }
    await files.close();
  });
});
