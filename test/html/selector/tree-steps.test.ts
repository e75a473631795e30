import { describe, expect, it } from "vitest";
import { atOnce } from "../../../src/event-loop/sliced-work.ts";
import type { SourceElement } from "../../../src/html/document/html-nodes.ts";
import {
  EvaluationSteps,
  nextBehind,
  stepsBackward,
  stepsForward,
  type TreeStep,
} from "../../../src/html/selector/tree-steps.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

const page = "<a id=a>1<b id=b><i id=c></i></b><!-- x --><b id=d></b>2<b id=e><i id=f></i></b></a>";

async function elementsById(): Promise<(id: string) => SourceElement> {
  const elements = elementsOf(await parseHtml(page));
  return (id) => elements.find(({ attribs }) => attribs["id"] === id) as SourceElement;
}

async function reached(step: TreeStep, from: string, seen: readonly string[] = []): Promise<string> {
  const byId = await elementsById();
  const visited = new Set(seen.map(byId));
  const names: string[] = [];
  const visit = (element: SourceElement): boolean => {
    if (visited.has(element)) return false;
    visited.add(element);
    names.push(element.attribs["id"] ?? element.name);
    return true;
  };
  atOnce(step(from.split(" ").map(byId), visit, new EvaluationSteps(10_000)));
  return names.join(" ");
}

describe("stepsForward", () => {
  it("leads to descendants, children and siblings behind", async () => {
    expect(await reached(stepsForward.descendant, "a")).toBe("b c d e f");
    expect(await reached(stepsForward.child, "a")).toBe("b d e");
    expect(await reached(stepsForward["next-sibling"], "b")).toBe("d");
    expect(await reached(stepsForward["subsequent-sibling"], "b")).toBe("d e");
    expect(await reached(stepsForward["subsequent-sibling"], "e")).toBe("");
  });

  it("leads from several elements to each once", async () => {
    expect(await reached(stepsForward.descendant, "a b e")).toBe("b c d e f");
    expect(await reached(stepsForward["subsequent-sibling"], "b d")).toBe("d e");
  });

  it("does not go on where it has been", async () => {
    expect(await reached(stepsForward.descendant, "a", ["b"])).toBe("d e f");
    expect(await reached(stepsForward["subsequent-sibling"], "b", ["d"])).toBe("");
  });
});

describe("stepsBackward", () => {
  it("leads to ancestors, the parent and siblings before", async () => {
    expect(await reached(stepsBackward.descendant, "f")).toBe("e a body html");
    expect(await reached(stepsBackward.child, "f")).toBe("e");
    expect(await reached(stepsBackward["next-sibling"], "e")).toBe("d");
    expect(await reached(stepsBackward["subsequent-sibling"], "e")).toBe("d b");
  });

  it("does not go on where it has been", async () => {
    expect(await reached(stepsBackward.descendant, "f", ["a"])).toBe("e");
  });
});

describe("nextBehind", () => {
  it("leaves out what is in an element", async () => {
    const byId = await elementsById();
    expect(nextBehind(byId("b"), byId("a"))?.type).toBe("comment");
    expect(nextBehind(byId("e"), byId("a"))).toBeNull();
  });
});

const tooCostly = expect.objectContaining({ code: "SELECTOR_TOO_COSTLY" });

/** Takes steps as work in slices does. */
function take(steps: EvaluationSteps, count: number): number {
  let slices = 1;
  for (let index = 0; index < count; index += 1) {
    steps.spend();
    if (steps.isSliceOver()) slices += 1;
  }
  return slices;
}

describe("EvaluationSteps", () => {
  it("allow just as many as were given", () => {
    const steps = new EvaluationSteps(20_000);
    take(steps, 20_000);
    expect(steps.taken).toBe(20_000);
    expect(() => steps.spend()).toThrow(tooCostly);
  });

  it("count what is kept in mind ten times", () => {
    const steps = new EvaluationSteps(1000);
    steps.keep();
    expect(steps.taken).toBe(10);
  });

  it("come in slices of 5000", () => {
    expect(take(new EvaluationSteps(1_000_000), 20_000)).toBe(5);
  });

  it("are not endless where nobody can interrupt them", () => {
    const steps = new EvaluationSteps(100_000_000);
    steps.spend(1_000_000);
    expect(() => steps.spend(1_000_000)).toThrow(tooCostly);
  });
});
