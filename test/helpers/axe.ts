import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

let source: string | undefined;

/** What axe-core finds wrong with an open page, without those in its frames: rules, and elements that break them. */
export async function violationsIn(page: Page): Promise<string[]> {
  source ??= readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await page.evaluate(source); // past the policy of the page, unlike a script element
  const { violations } = (await page.evaluate("axe.run({ iframes: false })")) as AxeResults;
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 100)}`));
}
