import { describe, expect, it } from "vitest";
import { send } from "../helpers/send.ts";
import { windows } from "./chromium.ts";
import { openPage } from "./page-with.ts";

describe("page.edit", { tags: ["chromium"] }, () => {
  const browser = windows();

  it("makes all edits or none, says how many elements each was about, and which could not be made", async () => {
    const { url, page } = await openPage(browser, "<ul id=a><li>1<li>2</ul><ul id=b></ul>");
    const outcome = await page.evaluate(async () => {
      const { edit } = client.connect();
      const move = { op: "move", selector: "#a li:first-child", to: "#b", position: "beforeend" } as const;
      const made = await edit([move, { op: "addClass", selector: "#b li", class: "x" }]);
      const failed = (error: InstanceType<typeof client.PageError>) => [error.status, error.code, error.index];
      return [
        made.edits,
        await edit([move, { op: "test", selector: "#b li", matches: 1 }]).then(String, failed),
        await edit([move], { ifMatch: '"another"' }).then(String, failed),
        await edit([move], { ifMatch: made.etag }).then(({ edits }) => edits),
      ];
    });
    expect(outcome).toEqual([
      [{ matches: 1 }, { matches: 1 }],
      [412, "EDIT_PRECONDITION_FAILED", 1],
      [412, "PRECONDITION_FAILED", undefined],
      [{ matches: 1 }],
    ]);
    const { text } = await send(url, "GET", "/page.html", { headers: { range: "selector=#b" } });
    expect(text).toBe('<ul id=b><li class="x">1</li><li>2</li></ul>');
  });
});
