import { describe, expect, it, onTestFinished } from "vitest";
import { createFileServer, eventStream, memoryStorage, type SharedFeed, webSocket } from "../../../src/index.ts";
import type { FeedEnd } from "../../../src/server/change-feed.ts";

/** Gives each change its place at once, and counts what is asked of it. */
function ownFeed() {
  const calls = { start: 0, send: 0, close: 0 };
  let end: FeedEnd | undefined;
  const feed: SharedFeed = {
    async start(given) {
      calls.start += 1;
      end = given;
    },
    send(change, origin) {
      calls.send += 1;
      end?.tell(change, origin);
    },
    async close() {
      calls.close += 1;
    },
  };
  return { feed, calls };
}

const put = (): Request => new Request("http://localhost/a.txt", { method: "PUT", body: "a" });

describe("a shared feed", () => {
  it("is started, asked and closed once, whoever names it, and tells what comes back", async () => {
    const { feed, calls } = ownFeed();
    const plugins = [webSocket({ feed }), eventStream({ feed })];
    const files = createFileServer({ storage: memoryStorage({}), plugins, feed });
    const ids: number[] = [];
    files.changes.subscribe(({ id }) => ids.push(id));
    await files.fetch(put());
    await files.fetch(put());
    await files.close();
    expect([calls, ids]).toEqual([{ start: 1, send: 2, close: 1 }, [1, 2]]);
  });

  it("is one for the whole server", async () => {
    const plugins = [webSocket({ feed: ownFeed().feed })];
    const files = createFileServer({ storage: memoryStorage({}), plugins, feed: ownFeed().feed });
    onTestFinished(() => files.close());
    const problem = "webSocket: feed is another than elsewhere: expected one for the whole server";
    await expect(files.ready()).rejects.toThrow(problem);
  });
});
