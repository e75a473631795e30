import { cp } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { webSocket } from "../../src/plugins/web-socket.ts";
import { seededRandom, timesOf } from "../helpers/effort.ts";
import { send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

export const cards = 6;

declare global {
  /** Numbers of cards that a window has shown, whenever that was wrong. */
  var wrong: string[];
}

/** The cards of a page, list by list. */
export function boardOf(html: string): string {
  return [...html.matchAll(/<ul id="(\w+)"|<li id="(card-\d+)"/g)].map(([, list, card]) => list ?? card).join(" ");
}

/** A server of the example, and the board as it is stored there. */
export async function serveBoard(): Promise<{ url: string; stored: () => Promise<string> }> {
  const root = join(await temporaryDirectory(), "site");
  await cp(join(projectRoot, "examples/kanban/site"), root, { recursive: true });
  const { url } = await serve({ root, client: true, plugins: [webSocket()] });
  return { url, stored: async () => boardOf((await send(url, "GET", "/index.html")).text) };
}

/** In a window: notes in `wrong` when a card is shown twice or not at all. */
export function watchCards(count: number): void {
  globalThis.wrong = [];
  const look = (): void => {
    const ids = [...document.querySelectorAll("li")].map(({ id }) => id).sort();
    if (ids.length !== count || new Set(ids).size !== count) wrong.push(ids.join(" "));
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}

/** What one of four windows moves: 200 moves of all of them in a campaign. */
export function movesOf(window: number): readonly { readonly card: string; readonly arrow: string }[] {
  const random = seededRandom(24 + window);
  const pick = (limit: number): number => Math.floor(random() * limit);
  return Array.from({ length: timesOf(3, 50) }, () => {
    const arrow = `Arrow${["Up", "Down", "Left", "Right"][pick(4)]}`;
    return { card: `#card-${1 + pick(cards)}`, arrow };
  });
}

/** A window, of Chromium or of Firefox. */
interface Shown {
  content(): Promise<string>;
  evaluate<T>(inWindow: () => T): Promise<T>;
}

/** Expects each card once on the board that is stored, which all windows show, and that none ever showed another. */
export async function expectEachCardOnce(stored: string, opened: readonly { readonly page: Shown }[]): Promise<void> {
  expect(stored.match(/card-\d/g)?.sort()).toEqual(Array.from({ length: cards }, (_, i) => `card-${i + 1}`));
  for (const { page } of opened) {
    await expect.poll(async () => boardOf(await page.content())).toBe(stored);
    expect(await page.evaluate(() => wrong)).toEqual([]);
  }
}
