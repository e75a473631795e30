import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ChosenElements } from "../../src/elements/selection.ts";
import { inFairSlices, type SlicedWork } from "../../src/event-loop/sliced-work.ts";
import { permissions } from "../../src/plugins/permissions.ts";
import type { Right, SelectedElements } from "../../src/server/access.ts";
import { stepClock, turnsUntil } from "../helpers/counted-work.ts";
import { done } from "../helpers/done.ts";
import { accessOf, guardBy, type Permits } from "../helpers/file-request.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { send, serveOne } from "./editing.ts";
import { elementsOf } from "./pages.ts";

const page = '<ul id="a"><li class="mine">1<li>2</ul><div id="b"><p class="secret">s<p>t</div>';

async function chosen(id: string): Promise<ChosenElements> {
  const document = await parseHtml(page);
  const elements = elementsOf(document).filter(({ attribs }) => attribs["id"] === id || attribs["class"] === id);
  expect(elements).toHaveLength(1);
  return new ChosenElements(document, elements, 1_000_000);
}

describe("finderOf", () => {
  it.each([
    ["maxMatches", 2, "p", 400, "TOO_MANY_MATCHES"],
    ["maxSelectorLength", 8, "p, p, p, p", 400, "INVALID_SELECTOR"],
    ["maxSelectorCompounds", 2, "p, p, p", 400, "INVALID_SELECTOR"],
  ])("bounds selectors by the option %s", async (option, limit, selector, status, code) => {
    const page = "<p>1<p>2<p>3";
    const free = serveOne(page);
    const bound = serveOne(page, { [option]: limit });
    expect((await send(free, "GET", selector)).status).toBe(206);
    const refused = await send(bound, "GET", selector);
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([status, code]);
    await Promise.all([free.close(), bound.close()]);
  });

  it("decodes percent escapes only where the text does not parse as it stands", async () => {
    const files = serveOne("<p id=a title='%20'>1</p>");
    for (const selector of ["%23a", '[title="%20"]']) {
      expect(await (await send(files, "GET", selector)).text()).toBe("<p id=a title='%20'>1</p>");
    }
    await files.close();
  });

  it("tells what is wrong with the text as it stands", async () => {
    const files = serveOne("<p>1");
    expect(await (await send(files, "GET", "p:foo%20")).json()).toMatchObject({
      code: "INVALID_SELECTOR",
      details: expect.stringContaining('":foo%20"'),
    });
    await files.close();
  });

  it.each([
    ["selectors", "li:nth-child(9n)", undefined],
    ["rules", "#a", "li"],
  ])("does what takes long for %s eight times at once, and what is short meanwhile", async (_, long, rule) => {
    const rules = [{ username: "*", path: "/*", permission: "allow", selector: rule }] as const;
    const files = serveOne(`<li id=a>${"<li>".repeat(40_000)}`, {
      plugins: [permissions({ user: () => undefined, rules })],
    });
    await (await send(files, "GET", "li:first-child")).text(); // no list by id has been made yet
    stepClock();
    let isOver = false;
    let pieces = 0;
    function* holding(): SlicedWork<void> {
      for (; !isOver; pieces += 1) yield;
    }
    const busy = Array.from({ length: 8 }, () => inFairSlices(holding(), { address: "a" }, holding));
    while (pieces < 200) await setImmediate();
    const waiting = send(files, "GET", long).then(({ status }) => [status, isOver]);
    for (; pieces < 700; await setImmediate()) expect((await send(files, "GET", "#none")).status).toBe(204);
    isOver = true;
    expect(await waiting).toEqual([206, true]);
    await Promise.all([...busy, files.close()]);
  });

  it("bounds the work of an evaluation", async () => {
    const files = serveOne(`<p>${"<b><i></i></b>".repeat(20_000)}`, { maxSelectionSteps: 100_000 });
    const reply = await send(files, "GET", "p:has(b:nth-last-of-type(7) > i:nth-child(n+2)) b:not(p *, i ~ i)");
    expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([503, "SELECTOR_TOO_COSTLY"]);
    await files.close();
  });
});

describe("ChosenElements", () => {
  it("are among what a selector selects where each of them is", async () => {
    const mine = await chosen("mine");
    expect([".mine", "li", "#a li", "*"].map((selector) => mine.areAmong(selector))).toEqual([true, true, true, true]);
    expect(["#a", "li + li", ".secret", "#none"].some((selector) => mine.areAmong(selector))).toBe(false);
  });

  it("touch what they are, what they hold and what they lie in", async () => {
    const list = await chosen("a");
    expect(["#a", ".mine", "body", "ul, p"].map((selector) => list.touch(selector))).toEqual([true, true, true, true]);
    expect(["#b", ".secret", "p", "#none"].some((selector) => list.touch(selector))).toBe(false);
  });

  it("have what the rules select selected in slices before these are asked again", async () => {
    const document = await parseHtml(`<p class=mine>${"<p>".repeat(20_000)}`);
    const elements = elementsOf(document).filter(({ attribs }) => attribs["class"] === "mine");
    const mine = new ChosenElements(document, elements, 1_000_000);
    const answers: boolean[] = [];
    const access = accessOf((_right, _path, asked) => {
      if (typeof asked !== "object") throw new Error("there are elements");
      const answer = asked.areAmong("p:not(p ~ i)") && !asked.touch(".none");
      answers.push(answer);
      return answer;
    });
    const client = { address: "a" };
    stepClock();
    const isGiven = Promise.resolve(mine.isGiven(access, "read", "/a.html", client));
    expect(await turnsUntil(isGiven)).toBeGreaterThan(1);
    expect(await isGiven).toBe(true);
    expect(answers.at(-1)).toBe(true);
  });

  it("are looked at once for each question, also where the answer is too costly", async () => {
    const document = await parseHtml("<p>".repeat(1000));
    let looks = 0;
    const chosen = new ChosenElements(
      document,
      function* () {
        looks += 1;
        yield;
        return elementsOf(document);
      },
      3_000,
    );
    const ask = async (question: (asked: SelectedElements) => boolean): Promise<boolean> =>
      chosen.isGiven(
        accessOf((_right, _path, asked) => typeof asked === "object" && question(asked)),
        "read",
        "/a.html",
        { address: "a" },
      );
    for (let time = 0; time < 3; time += 1) {
      expect(await ask((asked) => asked.areAmong("*") && asked.touch("p"))).toBe(true);
      expect(looks).toBe(2);
    }
    const first = await ask((asked) => asked.touch("p p, p ~ p")).catch((error: unknown) => error);
    expect(first).toMatchObject({ code: "SELECTOR_TOO_COSTLY" });
    expect(await ask((asked) => asked.touch("p p, p ~ p")).catch((error: unknown) => error)).toBe(first);
  });

  it("answer what was asked ahead after the tree is gone, and nothing else", async () => {
    const mine = await chosen("mine");
    const access = accessOf((_right, _path, asked) => typeof asked === "object" && asked.areAmong("li, p ~ i"));
    const costly = accessOf((_right, _path, asked) => typeof asked === "object" && asked.touch("p p"));
    const few = new ChosenElements(await parseHtml("<p>".repeat(1000)), [], 100);
    await done(few.answerAhead([costly], "/a.html", { address: "a" }));
    few.close();
    expect(() => few.touch("p p")).toThrow(expect.objectContaining({ code: "SELECTOR_TOO_COSTLY" }));
    await done(mine.answerAhead([access], "/a.html", { address: "a" }));
    mine.close();
    expect(mine.areAmong("li, p ~ i")).toBe(true);
    expect(() => mine.areAmong("li")).toThrow("this was not asked");
  });

  it("fail where a rule's selector is too costly", async () => {
    const document = await parseHtml("<p>".repeat(1000));
    const chosen = new ChosenElements(document, elementsOf(document), 100);
    const access = accessOf((_right, _path, asked) => typeof asked === "object" && asked.areAmong("p p, p ~ p"));
    const error = { code: "SELECTOR_TOO_COSTLY" };
    const ask = async () => chosen.isGiven(access, "read", "/a.html", { address: "a" });
    await expect(ask()).rejects.toMatchObject(error);
  });
});

/** Permits what the rule says, and remembers what it was asked. */
function guarded(rule: (right: Right, elements: SelectedElements) => boolean) {
  const asked: string[] = [];
  const permits: Permits = (right, path, elements) => {
    const about = typeof elements === "object" ? "elements" : (elements ?? "file");
    asked.push(`${right} ${path} ${about}`);
    return typeof elements === "object" ? rule(right, elements) : elements === "any";
  };
  const guard = guardBy(permits);
  return { files: serveOne(page, { plugins: [guard] }), asked };
}

const onlyMine = (_right: Right, elements: SelectedElements): boolean => elements.areAmong(".mine");

describe("a request for elements", () => {
  it("is judged before its preconditions", async () => {
    const { files } = guarded(onlyMine);
    expect((await send(files, "PUT", "li", "<li>", { "if-match": '"x"' })).status).toBe(401);
    expect((await send(files, "PUT", ".mine", "<li>", { "if-match": '"x"' })).status).toBe(412);
  });

  it("is judged again on what is stored when it is its turn", async () => {
    let asked = 0;
    const { files } = guarded((right) => {
      if (right === "read") return true;
      asked += 1;
      return asked < 2;
    });
    expect((await send(files, "DELETE", ".mine")).status).toBe(401);
    expect(asked).toBeGreaterThan(1); // over S3 a refusal is made only by what was looked at anew
  });

  it("is not told the tag of elements of somebody else that it has made its selector match", async () => {
    const { files } = guarded(onlyMine);
    const replaced = await send(files, "PUT", "#a > :first-child", "text");
    expect([replaced.status, replaced.headers.get("etag")]).toEqual([206, null]);
  });

  it("finds nothing as before where nothing matches", async () => {
    const { files } = guarded(onlyMine);
    const response = await send(files, "GET", "#none");
    expect([response.status, response.headers.get("x-selector-matches")]).toEqual([204, "0"]);
  });
});
