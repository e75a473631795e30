import { describe, expect, it } from "vitest";
import { permitAll } from "../../src/server/access.ts";
import { type Change, ChangeFeed, type NewChange } from "../../src/server/change-feed.ts";

const unexpected = (error: unknown): void => {
  throw error;
};

function changeOf(path: string): NewChange {
  return { kind: "created", method: "PUT", host: "example.com", path, requestId: "request-1" };
}

function publishMany(feed: ChangeFeed, count: number): void {
  for (let i = 1; i <= count; i++) feed.publish(changeOf(`/${i}`));
}

describe("a change feed", () => {
  it("numbers changes from 1 on and stamps them with the time", () => {
    const feed = new ChangeFeed(unexpected);
    const heard: Change[] = [];
    feed.subscribe((change) => heard.push(change));
    publishMany(feed, 3);
    expect(heard.map(({ id, path }) => `${id} ${path}`)).toEqual(["1 /1", "2 /2", "3 /3"]);
    for (const { time } of heard) expect(new Date(time).toISOString()).toBe(time);
  });

  it("has those wait who make changes until each listener that asked for it has caught up", async () => {
    const feed = new ChangeFeed(unexpected);
    const resolve: (() => void)[] = [];
    for (const _ of [1, 2]) feed.slowDown(new Promise((each) => void resolve.push(each)));
    const waited = feed.congestion;
    expect(waited).toBeDefined();
    resolve[0]?.();
    await Promise.resolve();
    expect(feed.congestion).toBe(waited);
    resolve[1]?.();
    await waited;
    expect(feed.congestion).toBeUndefined();
  });

  it("asks its listeners whether they judge by the changed elements: those that take an origin may", () => {
    const feed = new ChangeFeed(unexpected);
    feed.subscribe((change) => change);
    feed[Symbol.asyncIterator]();
    expect(feed.judgesElements("/a")).toBe(false);
    feed.subscribe(
      (_change, origin) => origin,
      undefined,
      (path) => path === "/b",
    );
    expect([feed.judgesElements("/a"), feed.judgesElements("/b")]).toEqual([false, true]);
    const leave = feed.subscribe((_change, origin) => origin);
    expect(feed.judgesElements("/a")).toBe(true);
    leave();
    expect(feed.judgesElements("/a")).toBe(false);
  });

  it("tells for whom alone it is to be known whether they may read the elements of an edit", () => {
    const feed = new ChangeFeed(unexpected);
    const [ada, bob] = [{ ...permitAll }, { ...permitAll }];
    feed.subscribe(unexpected, undefined, () => []);
    expect(feed.judgesElements("/a")).toBe(false);
    feed.subscribe(unexpected, undefined, () => [ada]);
    feed.subscribe(unexpected, undefined, () => [bob]);
    expect(feed.judgesElements("/a")).toEqual([ada, bob]);
    feed.subscribe(unexpected, undefined, () => true);
    expect(feed.judgesElements("/a")).toBe(true);
  });

  it("lets no publisher choose the number", () => {
    const feed = new ChangeFeed(unexpected);
    const heard: Change[] = [];
    feed.subscribe((change) => heard.push(change));
    feed.publish(Object.assign(changeOf("/a"), { id: 99, time: "never" }));
    expect(heard[0]?.id).toBe(1);
    expect(heard[0]?.time).not.toBe("never");
  });

  it("tells listeners in the order in which they subscribed, before publish returns", () => {
    const feed = new ChangeFeed(unexpected);
    const heard: string[] = [];
    feed.subscribe(() => heard.push("first"));
    feed.subscribe(() => heard.push("second"));
    feed.publish(changeOf("/a"));
    expect(heard).toEqual(["first", "second"]);
  });

  it("reports what a listener throws and tells the others all the same", () => {
    const reported: unknown[] = [];
    const feed = new ChangeFeed((error) => reported.push(error));
    const heard: number[] = [];
    const broken = new Error("broken listener");
    feed.subscribe(() => {
      throw broken;
    });
    feed.subscribe(({ id }) => heard.push(id));
    publishMany(feed, 2);
    expect(reported).toEqual([broken, broken]);
    expect(heard).toEqual([1, 2]);
  });

  it("reports what the promise of an async listener rejects with", async () => {
    const broken = new Error("broken listener");
    const reported = new Promise<unknown>((resolve) => {
      const feed = new ChangeFeed(resolve);
      feed.subscribe(async () => {
        throw broken;
      });
      feed.publish(changeOf("/a"));
    });
    expect(await reported).toBe(broken);
  });

  it("tells a listener nothing more after it has unsubscribed, once or twice", () => {
    const feed = new ChangeFeed(unexpected);
    const heard: string[] = [];
    const unsubscribe = feed.subscribe(() => heard.push("left"));
    feed.subscribe(() => heard.push("stayed"));
    feed.publish(changeOf("/a"));
    unsubscribe();
    unsubscribe();
    feed.publish(changeOf("/b"));
    expect(heard).toEqual(["left", "stayed", "stayed"]);
  });

  it("tells a listener that subscribed twice twice, and once after one of them has ended", () => {
    const feed = new ChangeFeed(unexpected);
    const heard: number[] = [];
    const listener = ({ id }: Change): void => void heard.push(id);
    const unsubscribe = feed.subscribe(listener);
    feed.subscribe(listener);
    feed.publish(changeOf("/a"));
    unsubscribe();
    feed.publish(changeOf("/b"));
    expect(heard).toEqual([1, 1, 2]);
  });

  it("bears a listener that unsubscribes while it is told", () => {
    const feed = new ChangeFeed(unexpected);
    const heard: string[] = [];
    const unsubscribe = feed.subscribe(() => {
      heard.push("once");
      unsubscribe();
    });
    feed.subscribe(() => heard.push("always"));
    publishMany(feed, 2);
    expect(heard).toEqual(["once", "always", "always"]);
  });
});

describe("the iterator of a change feed", () => {
  it("gives the changes from its making on, not from the first next() on, and none from before", async () => {
    const feed = new ChangeFeed(unexpected);
    feed.publish(changeOf("/before"));
    const iterator = feed[Symbol.asyncIterator]();
    feed.publish(changeOf("/a"));
    feed.publish(changeOf("/b"));
    expect(await iterator.next()).toMatchObject({ done: false, value: { id: 2, path: "/a" } });
    expect(await iterator.next()).toMatchObject({ done: false, value: { id: 3, path: "/b" } });
  });

  it("gives each of two concurrent next() calls a change of its own, in order", async () => {
    const feed = new ChangeFeed(unexpected);
    const iterator = feed[Symbol.asyncIterator]();
    const both = Promise.all([iterator.next(), iterator.next()]);
    publishMany(feed, 3);
    expect((await both).map(({ value }) => value?.id)).toEqual([1, 2]);
    expect((await iterator.next()).value?.id).toBe(3);
  });

  it("ends with return(), which drops what was not taken", async () => {
    const feed = new ChangeFeed(unexpected);
    const untaken = feed[Symbol.asyncIterator]();
    feed.publish(changeOf("/b"));
    await untaken.return?.();
    expect(await untaken.next()).toEqual({ done: true, value: undefined });
  });

  it("lets go of the feed when a loop breaks off", async () => {
    const feed = new ChangeFeed(unexpected);
    const iterator = feed[Symbol.asyncIterator]();
    feed.publish(changeOf("/a"));
    for await (const { id } of { [Symbol.asyncIterator]: () => iterator }) {
      expect(id).toBe(1);
      break;
    }
    feed.publish(changeOf("/b"));
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it("keeps 10,000 changes for a reader who is slow", async () => {
    const feed = new ChangeFeed(unexpected);
    const iterator = feed[Symbol.asyncIterator]();
    publishMany(feed, 10_000);
    const ids: (number | undefined)[] = [];
    for (let i = 0; i < 10_000; i++) ids.push((await iterator.next()).value?.id);
    expect(ids).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
    const next = iterator.next();
    feed.publish(changeOf("/later"));
    expect((await next).value?.id).toBe(10_001);
  });

  it("rejects once for a reader who fell further behind, and has ended then", async () => {
    const feed = new ChangeFeed(unexpected);
    const iterator = feed[Symbol.asyncIterator]();
    publishMany(feed, 10_002);
    await expect(iterator.next()).rejects.toThrow("10000 changes behind");
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it("ends with the feed, after the changes that were published by then", async () => {
    const feed = new ChangeFeed(unexpected);
    const reading = feed[Symbol.asyncIterator]();
    const waiting = feed[Symbol.asyncIterator]();
    feed.publish(changeOf("/a"));
    await waiting.next();
    const last = waiting.next();
    feed.end();
    expect(await last).toEqual({ done: true, value: undefined });
    expect(await reading.next()).toMatchObject({ done: false, value: { id: 1 } });
    expect(await reading.next()).toEqual({ done: true, value: undefined });
  });

  it("is at its end at once where the feed has ended before", async () => {
    const feed = new ChangeFeed(unexpected);
    feed.end();
    expect(await feed[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
  });
});

describe("the past of a feed", () => {
  const feedOf = (count: number): ChangeFeed => {
    const feed = new ChangeFeed(() => {});
    for (let i = 1; i <= count; i++) feed.publish(changeOf(`/${i}`), { site: "*" });
    return feed;
  };
  const idsSince = (feed: ChangeFeed, id: number): readonly number[] | "gap" => {
    const past = feed.since(id);
    return past === "gap" ? past : past.map(({ change }) => change.id);
  };

  it("gives what came after an id, in order, with the host that it happened on", () => {
    const feed = feedOf(5);
    expect(feed.lastId).toBe(5);
    expect([idsSince(feed, 3), idsSince(feed, 0), idsSince(feed, 5)]).toEqual([[4, 5], [1, 2, 3, 4, 5], []]);
    expect(feed.since(4)).toMatchObject([{ site: "*", change: { path: "/5" } }]);
  });

  it.each([6, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("is a gap after an id that never was: %o", (id) => {
    expect(idsSince(feedOf(5), id)).toBe("gap");
  });

  it.each([1000, 1001, 1999, 2000, 2001, 5000])(
    "has the last 1,000 of %i changes, and says where it has not",
    (count) => {
      const feed = feedOf(count);
      const first = Math.max(0, count - 1000);
      expect(idsSince(feed, first)).toHaveLength(Math.min(count, 1000));
      expect(idsSince(feed, first)[0]).toBe(first + 1);
      expect(idsSince(feed, first - 1)).toBe("gap");
    },
  );

  it("forgets changes earlier that have much HTML", () => {
    const feed = new ChangeFeed(() => {});
    const html = "x".repeat(12 * 1024 * 1024);
    for (let i = 1; i <= 4; i++) feed.publish({ ...changeOf(`/${i}`), html } as NewChange, { site: "*" });
    expect([idsSince(feed, 1), idsSince(feed, 2)]).toEqual(["gap", [3, 4]]);
  });

  it("tells feeds apart", () => {
    expect(feedOf(0).name).not.toBe(feedOf(0).name);
  });
});
