import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changedLines } from "../../../src/plugins/mcp/changed-lines.ts";
import { checks } from "../../helpers/effort.ts";

describe("the changed lines", () => {
  it("of a long line show what has changed, and a little around", () => {
    const [before, after] = ["x", "y"].map((letter) => `${"a".repeat(1000)}${letter}${"b".repeat(1000)}`);
    const part = (letter: string) => `…${"a".repeat(60)}${letter}${"b".repeat(60)}…`;
    expect(changedLines(before as string, after as string)).toBe(`@@ line 1 @@\n-${part("x")}\n+${part("y")}`);
  });

  it("are cut, and say so", () => {
    const shown = changedLines("", Array.from({ length: 1000 }, (_, line) => `line ${line}`).join("\n"), 200);
    expect(shown.length).toBeLessThan(250);
    expect(shown).toMatch(/@@ more lines have changed @@$/);
  });

  it("make the new text out of the old one", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        expect(patched(before, changedLines(before.join("\n"), after.join("\n"), 1e6))).toEqual(
          after.length > 0 ? after : [""],
        );
      }),
      checks({ seed: 26, numRuns: 500 }),
    );
  });
});

function patched(before: readonly string[], diff: string): string[] {
  const made: string[] = [];
  let old = 0;
  const source = before.length > 0 ? before : [""];
  for (const line of diff === "" ? [] : diff.split("\n")) {
    const at = /^@@ line (\d+) @@$/.exec(line)?.[1];
    if (at !== undefined) while (made.length < Number(at) - 1) made.push(source[old++] ?? "");
    else if (line.startsWith("-")) expect(source[old++]).toBe(line.slice(1));
    else made.push(line.slice(1));
  }
  return [...made, ...source.slice(old)];
}
