import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { QuietPaths } from "../../../src/storage/disk/quiet-paths.ts";
import { deferred } from "../../helpers/deferred.ts";

/** Keeps what was looked at, in order. */
function recorded(): { paths: QuietPaths; looked: string[] } {
  const looked: string[] = [];
  const paths = new QuietPaths(async (path) => void looked.push(path));
  return { paths, looked };
}

describe("quiet paths", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("are looked at all the same when they never come to rest", async () => {
    const { paths, looked } = recorded();
    for (let ms = 0; ms < 3000; ms += 10) {
      paths.add("/a");
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(looked).toEqual(["/a", "/a", "/a"]);
  });

  it("are not looked at twice at the same time, but again afterwards", async () => {
    const first = deferred();
    let looking = 0;
    let most = 0;
    let looks = 0;
    const paths = new QuietPaths(async () => {
      looking += 1;
      looks += 1;
      most = Math.max(most, looking);
      await first.promise;
      looking -= 1;
    });
    paths.addNow("/a");
    paths.addNow("/a");
    await vi.advanceTimersByTimeAsync(500);
    expect(looks).toBe(1);
    first.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect({ looks, most }).toEqual({ looks: 2, most: 1 });
  });

  it("are forgotten at the end, which waits for what is under way", async () => {
    const first = deferred();
    const ended: string[] = [];
    const paths = new QuietPaths(async (path) => {
      await first.promise;
      ended.push(path);
    });
    paths.addNow("/under-way");
    paths.add("/waiting");
    const closed = paths.close();
    paths.add("/late");
    paths.addNow("/later");
    first.resolve();
    await closed;
    await vi.advanceTimersByTimeAsync(5000);
    expect(ended).toEqual(["/under-way"]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
