import { describe, expect, it } from "vitest";
import { isBlankText, splitBlanks, TextCollector } from "../../../src/html/tree-construction/text-run.ts";

describe("TextCollector", () => {
  it("keeps a piece of the source one piece", () => {
    const collector = new TextCollector("some text");
    collector.addVerbatim(0, 4);
    collector.addVerbatim(4, 9);
    expect(collector.take()).toEqual({ data: "some text", start: 0, end: 9, isVerbatim: true });
    expect(collector.isEmpty).toBe(true);
  });

  it("joins what does not follow, or reads otherwise", () => {
    const collector = new TextCollector("a&amp;b<![CDATA[c");
    collector.addVerbatim(0, 1);
    collector.add("&", 1, 6);
    collector.addVerbatim(6, 7);
    collector.addVerbatim(16, 17);
    expect(collector.take()).toEqual({ data: "a&bc", start: 0, end: 17, isVerbatim: false });
    collector.addVerbatim(0, 1);
    collector.addVerbatim(6, 7);
    expect(collector.take()).toEqual({ data: "ab", start: 0, end: 7, isVerbatim: false });
  });

  it("joins any number of pieces", () => {
    const collector = new TextCollector("");
    for (let index = 0; index < 10_000; index += 1) collector.add(index % 2 === 0 ? "a" : "b", index, index + 1);
    expect(collector.take().data).toBe("ab".repeat(5000));
    collector.add("c", 0, 1);
    expect(collector.take().data).toBe("c");
  });
});

const run = (data: string, isVerbatim = true) => ({ data, start: 5, end: 5 + data.length, isVerbatim });

it("knows white space", () => {
  expect([" \t\n\f\r", "", "\u00a0", " a "].map((data) => isBlankText(run(data)))).toEqual([true, true, false, false]);
});

it("splits the white space off, wherever it ends in the source", () => {
  expect(splitBlanks(run("a "), "01234a ")).toEqual([undefined, run("a ")]);
  expect(splitBlanks(run(" \n"), "01234 \n")).toEqual([run(" \n"), undefined]);
  expect(splitBlanks({ data: " \na", start: 5, end: 9, isVerbatim: false }, "01234 \r\na")).toEqual([
    { data: " \n", start: 5, end: 8, isVerbatim: false },
    { data: "a", start: 8, end: 9, isVerbatim: false },
  ]);
});
