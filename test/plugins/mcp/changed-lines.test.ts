import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atOnce } from "../../../src/event-loop/sliced-work.ts";
import { changedLines } from "../../../src/plugins/mcp/changed-lines.ts";
import { endless } from "../../helpers/counted-work.ts";
import { checks } from "../../helpers/effort.ts";

describe("the changed lines", () => {
  it("of a long line show what has changed, and a little around", () => {
    const [before, after] = ["x", "y"].map((letter) => `${"a".repeat(1000)}${letter}${"b".repeat(1000)}`);
    const part = (letter: string) => `…${"a".repeat(60)}${letter}${"b".repeat(60)}…`;
    expect(atOnce(changedLines(before as string, after as string))).toBe(`@@ line 1 @@\n-${part("x")}\n+${part("y")}`);
  });

  it("are cut, and say so", () => {
    const shown = atOnce(changedLines("", Array.from({ length: 1000 }, (_, line) => `line ${line}`).join("\n"), 200));
    expect(shown.length).toBeLessThan(250);
    expect(shown).toMatch(/@@ more lines have changed @@$/);
  });

  it("are found at both ends of a million lines, and of one line of a million characters", () => {
    for (const piece of ["\n", " "]) {
      const [before, after] = ["a", "b"].map((letter) => `${letter}${endless(piece)}${letter}`);
      const lines = atOnce(changedLines(before as string, after as string)).split("\n");
      expect(lines[0]).toBe("@@ line 1 @@");
      expect(lines.at(-1)).toBe(piece === "\n" ? "+b" : "@@ more lines have changed @@");
    }
  });

  it("make the new text out of the old one", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        expect(patched(before, atOnce(changedLines(before.join("\n"), after.join("\n"), 1e6)))).toEqual(
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
