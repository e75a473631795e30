import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Attack, documents, edits, selectors, withstand, xmlDocuments } from "../bench/adversarial.mjs";
import { type SteppedClock, stepClock } from "../helpers/counted-work.ts";
import { sample } from "../helpers/effort.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

/** The answer to each attack; others are answered meanwhile. Bench and the tests of the parts count the time. */
async function answers(attacks: readonly Attack[]): Promise<Record<string, string>> {
  const outcomes = await withstand(await temporaryDirectory(), attacks);
  for (const { name, status, code, ms, neighbourMs } of outcomes) {
    console.info(`${name.slice(0, 60)}: ${status} ${code} ${ms.toFixed(0)} ms, others ${neighbourMs.toFixed(0)} ms`);
  }
  return Object.fromEntries(outcomes.map(({ name, status, code }) => [name, `${status} ${code}`.trim()]));
}

/** Those of the expected answers that the sample asks for. */
const among = (answered: Readonly<Record<string, string>>, expected: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(expected).filter(([name]) => name in answered));

/** Turns of the event loop that a small request takes, and how often the clock was read in the longest of them. */
async function turnsOf(ask: () => Promise<unknown>, clock: SteppedClock): Promise<{ turns: number; looks: number }> {
  let isOver = false;
  let turns = 0;
  let looks = 0;
  const answer = ask().finally(() => {
    isOver = true;
  });
  for (; !isOver; turns += 1) {
    const before = clock.looks;
    await setImmediate();
    looks = Math.max(looks, clock.looks - before);
  }
  await answer;
  return { turns, looks };
}

describe("what is built to be slow", () => {
  it.each([
    ["a document", "GET", "p", `<p>${"<b><i>".repeat(50)}${"</b><p>".repeat(200)}`],
    ["a selector", "GET", "p:nth-last-child(odd of :not(:is(p ~ p ~ p)))", "<p>".repeat(3_000)],
    ["an edit", "POST", "p:nth-child(-n+300)", "<p>".repeat(600)],
  ])("has others wait no more turns of the event loop than without it: %s", async (_what, method, selector, page) => {
    const storage = memoryStorage({ "/a.html": `<!doctype html>${page}`, "/small.txt": "small" });
    const files = createFileServer({ storage });
    onTestFinished(() => files.close());
    await files.ready();
    const ask = async (): Promise<string> => (await files.fetch(new Request("http://localhost/small.txt"))).text();
    await ask();
    const clock = stepClock(1); // who has worked for five looks at it gives way
    const alone = await turnsOf(ask, clock);

    let isAnswered = false;
    const headers = { range: `selector=${selector}` };
    const attack = new Request("http://localhost/a.html", { method, headers, ...(method === "POST" && { body: "x" }) });
    const answer = files.fetch(attack).then(async (reply) => {
      await reply.arrayBuffer();
      isAnswered = true;
      return reply.status;
    });
    let waits = 0;
    for (; !isAnswered; waits += 1) {
      const { turns, looks } = await turnsOf(ask, clock);
      expect(turns).toBeLessThanOrEqual(alone.turns + 2);
      expect(looks).toBeLessThanOrEqual(alone.looks + 50); // a few slices, of one step after the other
    }
    expect(await answer).toBeLessThan(300);
    expect(waits).toBeGreaterThan(10);
  });

  it("is answered, and others meanwhile: documents, selectors and edits, by one server", async () => {
    const wanted = {
      documents: sample([...documents, ...xmlDocuments], 20),
      selectors: sample(selectors, 20),
      edits: sample(edits, 6),
    };
    const answered = await answers(Object.values(wanted).flat());
    const answersTo = (attacks: readonly Attack[]) =>
      Object.fromEntries(attacks.map(({ name }) => [name, answered[name] ?? ""]));

    const ofDocuments = answersTo(wanted.documents);
    expect(Object.values(ofDocuments).filter((answer) => answer.startsWith("5"))).toEqual([]);
    const expectedOfDocuments = {
      "200,000 nested elements": "422 DOCUMENT_TOO_DEEP",
      "200,000 nested templates": "422 DOCUMENT_TOO_DEEP",
      "1,000,000 attributes of one element": "422 DOCUMENT_TOO_COSTLY",
      "an endless tag name": "422 DOCUMENT_TOO_COSTLY",
      "16 MiB of plain text": "204",
      "16 MiB of elements": "422 DOCUMENT_TOO_COSTLY",
      "XML: a billion laughs": "422 NOT_WELL_FORMED",
    };
    expect(ofDocuments).toMatchObject(among(ofDocuments, expectedOfDocuments));

    const ofSelectors = Object.values(answersTo(wanted.selectors));
    const expected = /^(?:20[46]|400 (?:TOO_MANY_MATCHES|INVALID_SELECTOR)|503 SELECTOR_TOO_COSTLY)$/;
    expect(ofSelectors.filter((answer) => !expected.test(answer))).toEqual([]);

    const ofEdits = answersTo(wanted.edits);
    const expectedOfEdits = {
      "POST to *": "400 TOO_MANY_MATCHES",
      "POST to p, 9,000 of them": "206",
      "PUT of p, 9,000 of them": "206",
      "DELETE of p, 9,000 of them": "204",
      "PUT of 100,000 tags": "206",
      "POST of 10,000 nested tags": "400 INVALID_HTML",
    };
    expect(ofEdits).toEqual(among(ofEdits, expectedOfEdits));
  });
});
