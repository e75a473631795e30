import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { connectAgent } from "../../helpers/agent.ts";
import { startFilement } from "../../helpers/filement-command.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

const items = Array.from({ length: 40 }, (_, index) => index);
const rounds = 10;

describe("edits of eight agents at once, by four processes over one root", () => {
  it("are all kept: 40 at once, ten times", async () => {
    const root = await temporaryDirectory();
    const list = items.map((index) => `<li id="item${index}">Item ${index}</li>`).join("\n");
    await writeFile(join(root, "to-do.html"), `<!DOCTYPE html>\n<ul>\n${list}\n</ul>\n`);
    const servers = await Promise.all([1, 2, 3, 4].map(() => startFilement([root, "--mcp"])));
    const agents = await Promise.all([...servers, ...servers].map(({ url }) => connectAgent(url)));
    let kept = 0;
    for (let round = 0; round < rounds; round += 1) {
      const answers = await Promise.all(
        items.map((index) =>
          agents[index % agents.length]?.call("edit", {
            path: "/to-do.html",
            edits: [{ op: "setText", selector: `#item${index}`, text: `Round ${round} of ${index}`, matches: 1 }],
          }),
        ),
      );
      expect(answers.filter((answer) => answer?.isError)).toEqual([]);
      const page = await readFile(join(root, "to-do.html"), "utf8");
      kept += items.filter((index) => page.includes(`<li id="item${index}">Round ${round} of ${index}</li>`)).length;
    }
    expect(kept).toBe(items.length * rounds);
  });
});
