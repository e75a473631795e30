import { afterEach, describe, expect, it, vi } from "vitest";
import { LogFailures } from "../../../src/plugins/access-log/log-failures.ts";
import type { Site } from "../../../src/server/site.ts";
import { aSite } from "./a-site.ts";

afterEach(() => void vi.useRealTimers());

describe("the failures of a log", () => {
  it("is told with numbers, at once and then every ten seconds", () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { site, warnings } = aSite();
    const failures = new LogFailures();
    failures.site = site;
    for (let second = 0; second < 12; second += 1) {
      failures.drop(2);
      vi.advanceTimersByTime(1000);
    }
    expect(warnings).toEqual([
      { dropped: 2, droppedInAll: 2 },
      { dropped: 20, droppedInAll: 22 },
    ]);
    vi.advanceTimersByTime(10_000);
    failures.succeeded();
    failures.warn();
    expect(warnings.slice(2)).toEqual([{ dropped: 2, droppedInAll: 24 }]);
  });

  it("is told without failures where the logger fails, too", () => {
    const { site, reports } = aSite();
    const warn = (): never => {
      throw new Error("no logger");
    };
    const failures = new LogFailures();
    failures.site = { ...site, logger: { ...site.logger, warn } } as Site;
    failures.drop(1);
    expect(reports).toEqual(["Error: no logger"]);
  });
});
