import { describe, expect, it } from "vitest";
import { signalled } from "../../src/cli/signalled.ts";

describe("a signal", () => {
  it("is waited for, and no longer after the first one of any of the names", async () => {
    const before = process.listenerCount("SIGUSR2") + process.listenerCount("SIGWINCH");
    const heard = signalled("SIGUSR2", "SIGWINCH");
    expect(process.listenerCount("SIGUSR2") + process.listenerCount("SIGWINCH")).toBe(before + 2);
    process.emit("SIGWINCH");
    await heard;
    expect(process.listenerCount("SIGUSR2") + process.listenerCount("SIGWINCH")).toBe(before);
  });
});
