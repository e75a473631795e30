import { describe, expect, it } from "vitest";
import { parseInTurn } from "../../../src/html/document/parse-queue.ts";

const large = 1024 * 1024;

/** Tasks that end when told to, and in which order they began. */
function tasks() {
  const began: string[] = [];
  const end = new Map<string, (error?: Error) => void>();
  const task = (name: string) => (): Promise<string> => {
    began.push(name);
    return new Promise((resolve, reject) => end.set(name, (error) => (error ? reject(error) : resolve(name))));
  };
  return { began, task, end: (name: string, error?: Error) => end.get(name)?.(error) };
}

describe("parseInTurn", () => {
  it("parses large documents one after the other, and small ones meanwhile", async () => {
    const { began, task, end } = tasks();
    const first = parseInTurn(large, task("first"));
    const second = parseInTurn(large, task("second"));
    const small = parseInTurn(1000, task("small"));
    await Promise.resolve();
    expect(began).toEqual(["small", "first"]);
    end("small");
    expect(await small).toBe("small");
    end("first");
    expect(await first).toBe("first");
    expect(began).toEqual(["small", "first", "second"]);
    end("second");
    expect(await second).toBe("second");
  });

  it("goes on after one that failed", async () => {
    const { task, end } = tasks();
    const first = parseInTurn(large, task("first"));
    const second = parseInTurn(large, () => Promise.resolve("second"));
    await Promise.resolve();
    end("first", new Error("too deep"));
    await expect(first).rejects.toThrow("too deep");
    expect(await second).toBe("second");
  });

  it("sends away what would make too much wait, but never the only one", async () => {
    const { task, end } = tasks();
    const huge = parseInTurn(1024 * large, task("huge"));
    await expect(parseInTurn(large, task("refused"))).rejects.toMatchObject({ code: "OVERLOADED" });
    end("huge");
    expect(await huge).toBe("huge");
    expect(await parseInTurn(large, async () => "again")).toBe("again");
  });
});
