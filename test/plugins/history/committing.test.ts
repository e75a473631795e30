import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { createFileServer } from "../../../src/file-server.ts";
import { history } from "../../../src/plugins/history.ts";
import { isCampaign, timesOf } from "../../helpers/effort.ts";
import { projectRoot } from "../../helpers/source-files.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

const script = join(projectRoot, "test/plugins/history/writer.mjs");

/** Starts a writer, and kills it after so many answered changes, which it notes. */
async function killedAfter(count: number, answered: string[], ...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  let complaint = "";
  child.stderr.on("data", (text: Buffer) => {
    complaint += text;
  });
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    answered.push(line);
    seen += 1;
    if (seen === count) child.kill("SIGKILL");
  }
  const [, signal] = await ended;
  expect([signal, complaint]).toEqual(["SIGKILL", ""]);
}

describe("history of processes that are killed", () => {
  it.each(isCampaign ? [1, 2, 4] : [1, 4])(
    "has every change that was answered once, in order: %i processes",
    async (processes) => {
      const directory = await temporaryDirectory();
      const [root, repository] = [join(directory, "site"), join(directory, "site.git")];
      await mkdir(root);
      await writeFile(join(root, "page.html"), "<p>0</p>");
      const answered: string[] = [];
      const rounds = timesOf(2);
      for (let round = 0; round < rounds; round += 1) {
        const writers = Array.from({ length: processes }, (_, i) =>
          killedAfter(20 + 7 * i, answered, root, repository, String(100 * round + i + 1)),
        );
        await Promise.all(writers);
      }
      expect(answered.length).toBeGreaterThanOrEqual(20 * rounds * processes);
      const errors: unknown[] = [];
      const files = createFileServer({
        root,
        plugins: [history({ repository })],
        onError: (error) => errors.push(String(error)),
      });
      await files.ready();
      const spool = join(repository, "filement-spool");
      await files.write("/last.txt", "last");
      const git = (...args: string[]): string =>
        execFileSync("git", ["--git-dir", repository, ...args], { encoding: "utf8", maxBuffer: 2 ** 28 });
      await expect.poll(() => git("log", "--format=%s")).toContain("PUT /last.txt\n");
      // What was stored and not noted when its process was killed is found.
      for (const name of await readdir(root)) {
        const stored = await readFile(join(root, name), "utf8");
        await expect.poll(() => git("show", `main:${name}`)).toBe(stored);
      }
      await files.close();
      expect({ left: await readdir(spool), errors }).toEqual({ left: [], errors: [] });

      const commits = new Map<string, string[]>();
      for (const line of git("log", "--format=%H %(trailers:key=Version,valueonly,separator=%x20)").split("\n")) {
        const [commit = "", version = ""] = line.split(" ");
        commits.set(version, [...(commits.get(version) ?? []), commit]);
      }
      const stored = answered.map((line) => {
        const [path = "", etag = ""] = line.split(" ");
        const [commit, ...others] = commits.get(etag) ?? [];
        expect([line, others]).toEqual([line, []]);
        return `${commit}:${path.slice(1)}`;
      });
      // For each: its hash in git, its type and length, then its content between line feeds.
      let rest = execFileSync("git", ["--git-dir", repository, "cat-file", "--batch"], {
        input: stored.map((name) => `${name}\n`).join(""),
        maxBuffer: 2 ** 28,
      });
      for (const line of answered) {
        const start = rest.indexOf("\n") + 1;
        const end = start + Number(rest.toString("utf8", 0, start).split(" ")[2]);
        const hash = createHash("sha256").update(rest.subarray(start, end)).digest("hex");
        expect([line, hash]).toEqual([line, line.split(" ")[2]]);
        rest = rest.subarray(end + 1);
      }
      expect(git("fsck", "--strict", "--no-dangling")).toBe("");
    },
  );
});
