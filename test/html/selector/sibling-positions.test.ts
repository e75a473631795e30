import { describe, expect, it } from "vitest";
import { tokenize } from "../../../src/html/selector/selector-tokens.ts";
import { isNth, readAnPlusB, SiblingPositions } from "../../../src/html/selector/sibling-positions.ts";
import { EvaluationSteps } from "../../../src/html/selector/tree-steps.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

const steps = new EvaluationSteps(10_000);

describe("SiblingPositions", () => {
  it("counts the siblings with the same key, from both ends", async () => {
    const document = await parseHtml("<p>a<i>b</i>c<b>d</b><!-- e --><i>f</i><u></u></p>");
    const [, , , , ...children] = elementsOf(document);
    const positions = new SiblingPositions(({ name }) => (name === "u" ? null : name), steps);
    const found = children.map((child) => [child.name, positions.fromStart(child), positions.fromEnd(child)]);
    expect(found).toEqual([
      ["i", 1, 2],
      ["b", 1, 1],
      ["i", 2, 1],
      ["u", 0, 0],
    ]);
  });

  it("asks for the key of each sibling once", async () => {
    const document = await parseHtml("<p>".repeat(100));
    const asked = new Set<unknown>();
    let questions = 0;
    const keyOf = (element: unknown): string => {
      asked.add(element);
      questions += 1;
      return "";
    };
    const positions = new SiblingPositions(keyOf, steps);
    for (const element of elementsOf(document)) positions.fromEnd(element);
    expect(questions).toBe(asked.size);
  });
});

describe("isNth", () => {
  it.each([
    [2, 1, [1, 3, 5]],
    [2, 0, [2, 4, 6]],
    [0, 3, [3]],
    [0, 0, []],
    [-1, 3, [1, 2, 3]],
    [1, 0, [1, 2, 3, 4, 5, 6]],
    [1, 4, [4, 5, 6]],
    [3, -1, [2, 5]],
    [-2, 5, [1, 3, 5]],
    [1e20, 1, [1]],
  ])("it takes %in + %i for %j", (step, offset, expected) => {
    expect([0, 1, 2, 3, 4, 5, 6].filter((position) => isNth(position, { step, offset }))).toEqual(expected);
  });
});

function read(text: string): string | undefined {
  const found = readAnPlusB(tokenize(text));
  return found && `${found.step}n${found.offset < 0 ? "" : "+"}${found.offset} of ${found.length}`;
}

describe("readAnPlusB", () => {
  it.each([
    ["odd", "2n+1 of 1"],
    ["EVEN", "2n+0 of 1"],
    ["7", "0n+7 of 1"],
    ["+7", "0n+7 of 1"],
    ["-0007", "0n-7 of 1"],
    ["n", "1n+0 of 1"],
    ["-n", "-1n+0 of 1"],
    ["+n", "1n+0 of 2"],
    ["2n", "2n+0 of 1"],
    ["-3N", "-3n+0 of 1"],
    ["2n+1", "2n+1 of 2"],
    ["2n-1", "2n-1 of 1"],
    ["-n-1", "-1n-1 of 1"],
    ["2n + 1", "2n+1 of 5"],
    ["2n - 1", "2n-1 of 5"],
    ["2n- 1", "2n-1 of 3"],
    ["2n -1", "2n-1 of 3"],
    ["n +1", "1n+1 of 3"],
    ["2n/**/+/**/1", "2n+1 of 3"],
    ["+/**/n- 2", "1n-2 of 4"],
    ["n of p", "1n+0 of 1"],
    ["\\6e", "1n+0 of 1"],
    ["2\\6e", "2n+0 of 1"],
    ["99999999999999999999n", "100000000000000000000n+0 of 1"],
  ])("it reads %s as %s tokens", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it.each([
    ...["", "x", "+", "-", "--n", "1.5", "1e3", "1e0n", "2px", "n+", "n-", "n- -1", "n- +1", "n + -1", "n + +1"],
    ...["+ n", "+odd", "+ 1", "+2n+", "- n", "n3", "n--3", "2n+x", "n-1-1", "'2n'", "+/**/2n"],
  ])("it refuses %s", (text) => {
    expect(read(text)).toBeUndefined();
  });
});
