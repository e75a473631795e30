import { execFileSync } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { gitOutput, gitRecords, gitResult, Repository, tidyRepository } from "../../../src/plugins/history/git.ts";
import { projectRoot } from "../../helpers/source-files.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

describe("git", () => {
  it("is ended where a command does not end in an hour", { tags: ["linux"] }, async () => {
    const repository = await temporaryDirectory();
    await gitResult(repository, ["init", "--bare"]);
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const waiting = gitResult(repository, ["hash-object", "/dev/ptmx"]); // a terminal on which nothing is typed
    vi.advanceTimersByTime(3_600_000);
    expect((await waiting).code).toBeNull();
  });

  it("is not started where no more files can be opened, which ends one request and not the process", {
    tags: ["posix"],
  }, async () => {
    const program = `
      import { openSync } from "node:fs";
      import { gitOutput } from ${JSON.stringify(join(projectRoot, "build/plugins/history/git.js"))};
      try { for (;;) openSync("/dev/null"); } catch {}
      gitOutput(".", ["--version"]).catch(({ code }) => setImmediate(() => console.log(code)));`;
    const command = 'ulimit -n 40 && exec "$0" --input-type=module --eval "$1"';
    expect(String(execFileSync("sh", ["-c", command, process.execPath, program]))).toBe("busy\n");
  });

  it("fails where it cannot be started while its output is awaited", async () => {
    vi.stubEnv("PATH", "/nowhere");
    onTestFinished(() => void vi.unstubAllEnvs());
    const records = gitRecords(".", ["log"], "\0");
    await records.next(); // of no output
    await expect(records.next()).rejects.toThrow("ENOENT");
  });

  it("is not at work on a repository any more when that is tidied up", async () => {
    const repository = new Repository(await temporaryDirectory(), "main");
    onTestFinished(() => repository.close());
    await gitOutput(repository.location, ["init", "--bare"]);
    const commit = "commit refs/heads/main\ncommitter a <a@b> 0 +0000\ndata 0\n";
    execFileSync("git", ["--git-dir", repository.location, "fast-import", "--quiet"], { input: commit });
    const looseObjects = join(repository.location, "objects/17"); // where git counts them
    await mkdir(looseObjects, { recursive: true });
    for (let n = 10; n < 50; n += 1) await writeFile(join(looseObjects, `${n}`.repeat(19)), deflateSync("blob 0\0"));
    await tidyRepository(repository);
    expect(await readdir(join(repository.location, "objects/pack"))).not.toEqual([]);
  });
});
