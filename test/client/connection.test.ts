import { describe, expect, it } from "vitest";
import { sample } from "../helpers/effort.ts";
import { type Window, windows } from "./chromium.ts";
import { change, type FakeFeed, fakeFeed } from "./fake-feed.ts";
import { openPage } from "./page-with.ts";

/** What the pages of these tests have in their window. */
declare global {
  var kept: { isOpen: boolean; close(): void };
  /** The delays that were asked for, instead of waiting. */
  var delays: number[];
  /** Looks at the connection, when the time for an answer would be over. */
  var look: () => void;
}

describe("keepConnected", { tags: ["chromium"] }, () => {
  const browser = windows();

  /** A page that is connected to a feed. Delays are noted, and over at once. */
  async function connected(chance = 0): Promise<Window & { feed: FakeFeed }> {
    const feed = await fakeFeed();
    const window = await openPage(browser, "", ["connection"]);
    await window.page.evaluate(
      ([address, random]) => {
        globalThis.delays = [];
        const { setTimeout } = globalThis;
        Object.assign(globalThis, {
          setTimeout: (callback: () => void, ms: number) => {
            if (ms === 9_000) {
              globalThis.look = callback;
              return undefined;
            }
            delays.push(ms);
            return setTimeout(callback, 0);
          },
        });
        Math.random = () => random;
        globalThis.kept = parts.connection.keepConnected(new URL(address), "me", (event) => {
          told.push(event.type === "change" ? event.id : event.type);
        });
      },
      [`${feed.url}?path=/page.html`, chance] as const,
    );
    return { ...window, feed };
  }

  const toldBy = ({ page }: Window, count: number): Promise<unknown[]> =>
    page
      .waitForFunction((wanted) => told.length >= wanted && told, count)
      .then((handle) => handle.jsonValue() as never);

  it("tells each change once, and asks for the missed ones when the connection is lost", async () => {
    const window = await connected();
    const first = await window.feed.next();
    expect(first.query).toEqual({ path: "/page.html" });
    first.send({ type: "hello", feed: "f", id: 7 }, change(8), change(9));
    expect(await toldBy(window, 3)).toEqual(["open", 8, 9]);
    await first.cut();

    const second = await window.feed.next();
    expect(second.query).toEqual({ path: "/page.html", since: "9", feed: "f" });
    second.send({ type: "hello", feed: "f", id: 12 }, change(9), change(10), change(11));
    expect(await toldBy(window, 7)).toEqual(["open", 8, 9, "closed", "open", 10, 11]);
    await second.cut(); // in the middle of what was missed

    const third = await window.feed.next();
    expect(third.query).toMatchObject({ since: "11" });
    third.send({ type: "hello", feed: "f", id: 12 }, change(12), { type: "news" }, change(13));
    expect((await toldBy(window, 11)).slice(7)).toEqual(["closed", "open", 12, 13]);
  });

  it.each([
    ["same", "f", 3000],
    ["next", "g", 2],
  ])("says that something was missed, and goes on from what the %s run of the server has", async (_run, feed, id) => {
    const window = await connected();
    const first = await window.feed.next();
    first.send({ type: "hello", feed: "f", id: 700 });
    await first.cut();
    const second = await window.feed.next();
    second.send({ type: "hello", feed, id }, { type: "gap" }, change(id), change(id + 1));
    expect(await toldBy(window, 5)).toEqual(["open", "closed", "open", "gap", id + 1]);
    await second.cut();
    expect((await window.feed.next()).query).toMatchObject({ since: `${id + 1}`, feed });
  });

  const waits: ReadonlyArray<[string, number, readonly number[]]> = [
    ["half of it at least", 0, [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000]],
    ["all of it at most", 1, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]],
  ];

  it.each(sample(waits, 2))("waits longer each time, up to 30 seconds, %s", async (_what, chance, delays) => {
    const window = await connected(chance);
    for (const _delay of delays) await (await window.feed.next()).cut();
    await window.feed.next();
    expect(await window.page.evaluate(() => globalThis.delays)).toEqual(delays);
  });

  it("waits for a moment only after a connection that was a good one, not after one that was just made", {
    tags: ["campaign"],
  }, async () => {
    const window = await connected(1);
    for (const minutes of [0, 0, 1]) {
      const caller = await window.feed.next();
      caller.send({ type: "hello", feed: "f", id: 0 });
      await window.page.waitForFunction(() => kept.isOpen);
      await window.page.evaluate((passed) => {
        const now = Date.now();
        Date.now = () => now + passed * 60_000;
      }, minutes);
      await caller.cut();
      await window.page.waitForFunction(() => !kept.isOpen);
    }
    await window.feed.next();
    expect(await window.page.evaluate(() => delays)).toEqual([500, 1000, 500]);
  });

  it("makes a new connection at once when there is a network again", async () => {
    const window = await connected();
    const first = await window.feed.next();
    first.send({ type: "hello", feed: "f", id: 1 });
    await toldBy(window, 1);
    await window.page.evaluate(() => dispatchEvent(new Event("online")));
    await first.gone;
    (await window.feed.next()).send({ type: "hello", feed: "f", id: 2 }, change(2));
    expect(await toldBy(window, 4)).toEqual(["open", "closed", "open", 2]);
    expect(await window.page.evaluate(() => delays)).toEqual([]);
  });

  it("does not wait any longer when the page is looked at again", { tags: ["campaign"] }, async () => {
    const window = await connected();
    // A delay that never ends.
    await window.page.evaluate(() =>
      Object.assign(globalThis, { setTimeout: (_: unknown, ms: number) => ms === 250 && told.push("waiting") }),
    );
    await (await window.feed.next()).cut();
    expect(await toldBy(window, 1)).toEqual(["waiting"]);
    await window.page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    (await window.feed.next()).send({ type: "hello", feed: "f", id: 1 });
    expect(await toldBy(window, 2)).toEqual(["waiting", "open"]);
  });

  it("asks a server that is silent, and gives up one that does not answer, or says nothing at all", async () => {
    const window = await connected();
    await window.feed.next();
    await window.page.evaluate(() => globalThis.look());
    const first = await window.feed.next();
    first.send({ type: "hello", feed: "f", id: 1 });
    await toldBy(window, 1);
    const look = (): Promise<void> => window.page.evaluate(() => globalThis.look());
    await look();
    expect(await first.heard()).toEqual({ type: "ping" });
    first.send({ type: "pong" }, change(2));
    expect(await toldBy(window, 2)).toEqual(["open", 2]);
    await look();
    expect(await first.heard()).toEqual({ type: "ping" });
    expect(await window.page.evaluate(() => kept.isOpen)).toBe(true);
    await look();
    await first.gone;
    const second = await window.feed.next();
    expect(second.query).toMatchObject({ since: "2" });
    second.send({ type: "hello", feed: "f", id: 3 }, change(3));
    expect(await toldBy(window, 5)).toEqual(["open", 2, "closed", "open", 3]);
  });

  it("asks at once when the page is looked at again, and knows by the next look", { tags: ["campaign"] }, async () => {
    const window = await connected();
    const first = await window.feed.next();
    first.send({ type: "hello", feed: "f", id: 1 });
    await toldBy(window, 1);
    await window.page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    expect(await first.heard()).toEqual({ type: "ping" });
    await window.page.evaluate(() => look());
    await window.feed.next();
    expect(await toldBy(window, 2)).toEqual(["open", "closed"]);
  });

  it("ends, and makes no other connection", async () => {
    const window = await connected();
    const first = await window.feed.next();
    first.send({ type: "hello", feed: "f", id: 1 });
    await toldBy(window, 1);
    await window.page.evaluate(() => {
      kept.close();
      dispatchEvent(new Event("online"));
    });
    await first.gone;
    expect(await toldBy(window, 2)).toEqual(["open", "closed"]);
    expect(await window.page.evaluate(() => [kept.isOpen, delays.length])).toEqual([false, 0]);
  });
});
