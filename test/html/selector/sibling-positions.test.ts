import { describe, expect, it } from "vitest";
import { isNth, SiblingPositions } from "../../../src/html/selector/sibling-positions.ts";
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
