import { describe, expect, it, onTestFinished, vi } from "vitest";
import { gitResult } from "../../../src/plugins/history/git.ts";
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
});
