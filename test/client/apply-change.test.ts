import { describe, expect, it } from "vitest";
import type { Edit } from "../../src/client/client.ts";
import { createFileServer } from "../../src/file-server.ts";
import type { Change } from "../../src/server/change-feed.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { sample, seededRandom, timesOf } from "../helpers/effort.ts";
import { windows } from "./chromium.ts";
import { openPage } from "./page-with.ts";

/** A change, and what the file was before and is after it. */
interface Step {
  readonly change: Change;
  readonly before: string;
  readonly after: string;
}

const selectors = "li|#a|#b|ul|.x|p|p + p|body > *|b|td|tr|table|g|circle|body|textarea|title|option|div|div div".split(
  "|",
);
selectors.push(":is(ul, p):nth-child(2)", "template", "noscript", "pre");
/** One on each line. */
const fragments = `<li>new
<li id=a class=x>A</li>
text
 &amp;\x20
<b>bold</b>
<p class=x>one<p>two
<!-- note -->
<tr><td>cell
<td>cell</td>
<circle r=3 />
<div class=x><div>in</div></div>
<option>o
<ul id=b><li>i</ul>
<script>globalThis.ran = true</script>
<table><tr><td>t</table>
<div data-local>l</div>`.split("\n");
fragments.push("\n", "<textarea>\nt</textarea>");

const start = `<!doctype html><html><head><title>T</title></head><body><ul id="a"><li>1<li class="x">2</ul>
<p>one <b>two</b> three<p class="x">four<table><tbody><tr><td>1<td>2</table><table id=t></table>
<svg><g><circle r="1"/></g></svg><div><div class="x">in</div></div><textarea>x</textarea><select><option>1</select>
<template><li>no</li></template><noscript><p>no</p></noscript><pre>
x</pre><div id="b"></div></body></html>`;

function randomEdit(pick: (limit: number) => number): Edit {
  const one = <Item>(items: readonly Item[]): Item => items[pick(items.length)] as Item;
  const selector = one(selectors);
  const position = one(["beforebegin", "afterbegin", "beforeend", "afterend"] as const);
  const name = one(["title", "data-x", "class", "viewBox", "@on"]);
  const classes = one(["x", "y", " y  x z", "new"]);
  return one<Edit>([
    { op: "replace", selector, html: one(fragments) },
    { op: "insert", selector, position, html: one(fragments) },
    { op: "insert", selector, position, html: one(fragments) },
    { op: "remove", selector },
    { op: "move", selector, to: one(["#a", "#b", "pre", "tbody", "body", "p.x"]), position },
    { op: "move", selector: one(["li", ".x", "b"]), to: one(["#a", "#b", "pre"]), position },
    { op: "setContent", selector, html: one(fragments) },
    { op: "setText", selector, text: one(["", "\n<b> & text", "plain"]) },
    { op: "setAttribute", selector, name, value: one(["", "a  b", '"<&']) },
    { op: "removeAttribute", selector: one(["li", ".x", "#b"]), name: one(["class", "id"]) },
    { op: "addClass", selector, class: classes },
    { op: "removeClass", selector, class: classes },
  ]);
}

/** Random edits on the server, as many as it takes. */
async function randomSteps(count: number): Promise<Step[]> {
  const files = createFileServer({ storage: memoryStorage({ "/p.html": start }) });
  const changes: Change[] = [];
  files.changes.subscribe((change) => changes.push(change));
  const ask = async (method: string, headers: Record<string, string> = {}, body?: string): Promise<string> => {
    const request = new Request("http://localhost/p.html", { method, headers, ...(body !== undefined && { body }) });
    return (await files.fetch(request)).text();
  };
  const random = seededRandom(6);
  const pick = (limit: number): number => Math.floor(random() * limit);
  const steps: Step[] = [];
  let before = start;
  for (let tries = 0; steps.length < count && tries < 20 * count; tries += 1) {
    const method = ["PUT", "POST", "POST", "DELETE"][pick(4)] ?? "";
    const range = `selector=${selectors[pick(selectors.length)]}`;
    const body = fragments[pick(fragments.length)] ?? "";
    if (pick(2) === 0) {
      const edits = Array.from({ length: 1 + pick(2) }, () => randomEdit(pick));
      await ask("PATCH", { "content-type": "application/json" }, JSON.stringify(edits));
    } else await ask(method, { range }, method === "DELETE" ? undefined : body);
    const [change] = changes.splice(0);
    const after = await ask("GET");
    if (change) steps.push({ change, before, after });
    before = after;
    if (before.length > 5_000 || pick(12) === 0) await ask("PUT", {}, start);
    if (changes.splice(0).length > 0) before = start;
  }
  return steps;
}

const kinds = ["elements-replaced", "elements-appended", "elements-deleted", "elements-edited"];
kinds.push("replace", "insert", "remove", "move", "setContent", "setText");
kinds.push("setAttribute", "removeAttribute", "addClass", "removeClass");

describe("applyChange", { tags: ["chromium"] }, () => {
  const browser = windows();

  it("makes of a copy what the server has made of the file, or says that it cannot; patchBody brings the document there", async () => {
    const steps = await randomSteps(timesOf(160, 1_600));
    const { page, problems } = await openPage(browser, "", ["apply-change", "patch-body", "parse-page"]);
    const outcome = await page.evaluate((given) => {
      /** White space at the ends of the body is nobody's; the server does not compare it either. */
      const parse = (html: string): Document => {
        const parsed = parts["parse-page"].parsePage(html);
        trim(parsed.body);
        return parsed;
      };
      const trim = (body: HTMLElement): void => {
        for (const end of [body.firstChild, body.lastChild]) if (end instanceof Text && !end.data.trim()) end.remove();
      };
      const wrong: unknown[] = [];
      const made: string[] = [];
      let refused = 0;
      for (const { change, before, after } of given) {
        const wanted = parse(after);
        const copy = parts["parse-page"].parsePage(before);
        if (parts["apply-change"].applyChange(copy, change as never)) {
          made.push(change.kind, ...(change.edits ?? []).map(({ op }) => op));
          trim(copy.body);
          if (!copy.body.isEqualNode(wanted.body)) wrong.push(["copy", change, before, copy.body.outerHTML]);
        } else refused += 1;

        // The open document, before and after.
        const old = parse(before);
        document.body.innerHTML = old.body.innerHTML;
        for (const name of document.body.getAttributeNames()) document.body.removeAttribute(name);
        for (const { name, value } of old.body.attributes) document.body.setAttribute(name, value);
        trim(document.body);
        const patchBody = parts["patch-body"].bodyPatcher();
        patchBody(undefined, old);
        patchBody(old, wanted);
        for (const each of [document.body, wanted.body])
          for (const one of each.querySelectorAll("[data-local], template")) one.remove();
        document.body.normalize();
        wanted.body.normalize();
        if (!document.body.isEqualNode(wanted.body)) wrong.push(["document", change, before, document.body.outerHTML]);
      }
      return { wrong, made, refused, ran: "ran" in globalThis };
    }, steps);
    expect(outcome.wrong.slice(0, 2)).toEqual([]);
    expect(new Set(outcome.made)).toEqual(new Set(kinds));
    expect(outcome.made.length).toBeGreaterThan(outcome.refused);
    expect(outcome.ran).toBe(false);
    expect(problems.filter((problem) => !problem.includes("viewBox"))).toEqual([]);
  });

  const changes: ReadonlyArray<[string, string, string, boolean]> = [
    ["<p>a</p>", "p", "<noscript><i>b</noscript>", false],
    ["<p>a</p><noscript><b></noscript>", "noscript", "c", false],
    ["<p>a</p><noscript><li>b</noscript><hr>", "p", "c", true],
    ["<span><noscript><p>b</noscript></span><i>a</i>", "i", "c", true],
  ];

  it.each(sample(changes, 3))(
    "takes %j for known only where a copy shows what the file becomes: %s gets %j",
    async (before, selector, html, isKnown) => {
      const { page } = await openPage(browser, "", ["apply-change", "parse-page"]);
      const change = { kind: "elements-appended", selector, matches: 1, html };
      const isMade = await page.evaluate(
        ([text, given]) => parts["apply-change"].applyChange(parts["parse-page"].parsePage(text), given as never),
        [before, change] as const,
      );
      expect(isMade).toBe(isKnown);
    },
  );
});
