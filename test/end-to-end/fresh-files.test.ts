import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { timesOf } from "../helpers/effort.ts";
import { send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

/** Writes into files and tells when it is done; leaves each file's time of modification as it was, out of spite. */
const program = `
const { statSync, utimesSync, writeFileSync } = require("node:fs");
process.on("message", ({ location, text }) => {
  const { atime, mtime } = statSync(location);
  writeFileSync(location, text);
  utimesSync(location, atime, mtime);
  process.send("done");
});
`;

/** Another program that changes files. */
function editor(): (location: string, text: string) => Promise<void> {
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  onTestFinished(() => void child.kill());
  return async (location, text) => {
    const done = once(child, "message");
    child.send({ location, text });
    await done;
  };
}

describe("a file that another program changes", () => {
  it("is answered as it is now, after each of many changes", async () => {
    const root = await temporaryDirectory();
    const { url } = await serve({ root });
    const edit = editor();
    const names = Array.from({ length: timesOf(50, 100) }, (_, i) => `${i % 2 === 0 ? "" : "below/"}${i}.txt`);
    await mkdir(join(root, "below"));
    for (const name of names) await writeFile(join(root, name), "0000");
    const stale: string[] = [];
    for (let round = 1; round <= timesOf(2, 10); round += 1) {
      const text = String(round).padStart(4, "0");
      // Asked for twice, so that the files of the rounds before rest in memory.
      for (const name of [...names, ...names]) await send(url, "GET", `/${name}`);
      for (const name of names) {
        await edit(join(root, name), text);
        const answer = await send(url, "GET", `/${name}`);
        if (answer.text !== text) stale.push(`${name}: ${answer.text} for ${text}`);
      }
    }
    expect(stale).toEqual([]);
  });
});
