import { describe, expect, it, onTestFinished, vi } from "vitest";
import { stepClock } from "../../helpers/counted-work.ts";
import { done } from "../../helpers/done.ts";
import { sample } from "../../helpers/effort.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

const tooDeep = { code: "DOCUMENT_TOO_DEEP" };
const tooCostly = { code: "DOCUMENT_TOO_COSTLY" };

const attributes = (count: number): string => Array.from({ length: count }, (_, i) => `a${i}`).join(" ");

describe("the budget of a parse", () => {
  it("ends with the first element that is too deep, whatever follows", async () => {
    const clock = stepClock();
    await expect(parseHtml("<div>".repeat(200_000))).rejects.toMatchObject(tooDeep);
    expect(clock.looks).toBeLessThan(20);
  });

  it("has the depth as an option", async () => {
    await expect(parseHtml("<i><i><i>", { maxDepth: 4 })).rejects.toMatchObject(tooDeep);
    await expect(parseHtml("<i><i><i>", { maxDepth: 5 })).resolves.toBeDefined();
  });

  it.each([
    ["elements", "<p>".repeat(10_000)],
    ["texts", "<table>".concat("a<br>".repeat(10_000))],
    ["comments", "<!---->".repeat(30_000)],
    ["elements that error recovery makes", Array.from({ length: 300 }, (_, i) => `<p><font size=${i}>`).join("")],
    ["attributes that later tags add", Array.from({ length: 50_000 }, (_, i) => `<body a${i}>`).join("")],
    ["attributes", Array.from({ length: 5 }, (_, i) => `<a ${attributes(8000)} b${i}>`).join("")],
  ])("counts the memory of %s", async (_, source) => {
    await expect(parseHtml(source, { maxTreeBytes: 2_000_000 })).rejects.toMatchObject(tooCostly);
  });

  const beginnings = [
    ["the beginning", ""],
    ["an element", "<p>"],
    ["3,900 attributes of another", `<a ${attributes(3900)}>`],
  ] as const;

  it.each(sample(beginnings, 3))(
    "refuses a million attributes of one element, without reading all of them: behind %s",
    async (_, before) => {
      const clock = stepClock();
      await expect(parseHtml(`${before}<a ${attributes(1_000_000)}>`)).rejects.toMatchObject(tooCostly);
      await expect(parseHtml(`${before}<a ${attributes(4001)}>`)).rejects.toMatchObject(tooCostly);
      expect(clock.looks).toBeLessThan(100);
    },
  );

  it.each(["<", "<a ", "</"])("refuses endless names: %s", async (opening) => {
    await expect(parseHtml(opening + "x".repeat(1_000_000))).rejects.toMatchObject(tooCostly);
  });

  it("lets a page, and HTML that is supplied, take a quarter of the heap at most", async () => {
    vi.doMock("node:v8", () => ({ getHeapStatistics: () => ({ heap_size_limit: 40 * 1024 * 1024 }) }));
    vi.resetModules();
    onTestFinished(() => {
      vi.doUnmock("node:v8");
      vi.resetModules(); // other tests have the whole heap
    });
    const { parseHtmlTree } = await import("../../../src/html/document/html-document.ts");
    const { parseFragment } = await import("../../../src/html/edit/well-formed.ts");
    for (const parseIt of [parseHtmlTree, parseFragment]) {
      const parseAll = async (html: string): Promise<unknown> => done<unknown>(parseIt(html));
      await expect(parseAll("<br>".repeat(30_000))).resolves.toBeDefined();
      await expect(parseAll("<br>".repeat(36_000))).rejects.toMatchObject(tooCostly);
      await expect(parseAll("<!---->".repeat(72_000))).rejects.toMatchObject(tooCostly);
    }
  });

  it("counts characters", async () => {
    await expect(parseHtml("a".repeat(1000), { maxParseSteps: 1000 })).resolves.toBeDefined();
    await expect(parseHtml("a".repeat(1001), { maxParseSteps: 1000 })).rejects.toMatchObject(tooCostly);
  });

  it.each([
    ["tags within many elements", `${"<i>".repeat(400)}${"</b>".repeat(5000)}`],
    [
      "tags with attributes within many elements",
      Array(60)
        .fill(`<i ${attributes(1000)}>`)
        .join(""),
    ],
  ])("counts the open elements that the parser may look through: %s", async (_, source) => {
    await expect(parseHtml(source, { maxParseSteps: 1_500_000 })).rejects.toMatchObject(tooCostly);
    await expect(parseHtml(source, { maxParseSteps: 3_000_000 })).resolves.toBeDefined();
  });
});
