import { describe, expect, it, onTestFinished } from "vitest";
import { ChangeStream, type OutgoingChange } from "../../src/redis/change-stream.ts";
import { RedisConnection } from "../../src/redis/connection.ts";
import { type RedisServer, redisServer } from "./redis-server.ts";

/** The stream as some servers see it. */
async function streamsOf({ url }: Pick<RedisServer, "url">, ...servers: readonly string[]) {
  const connection = RedisConnection.to(url).hold();
  onTestFinished(() => connection.release());
  const streams = servers.map((server) => new ChangeStream(connection, "feed", server, 10_000));
  const reader = await connection.dedicated();
  onTestFinished(() => reader.destroy());
  const entries = async (): Promise<string[]> =>
    ((await streams[0]?.last(reader, 100)) ?? []).map(({ number, mark, change }) =>
      change ? `${number} ${mark}` : "begin",
    );
  return { streams: streams as [ChangeStream, ...ChangeStream[]], entries };
}

const sent = (...sequences: readonly number[]): OutgoingChange[] =>
  sequences.map((sequence) => ({
    sequence,
    change: { kind: "created", method: "PUT", host: "h", path: `/${sequence}`, requestId: "r", time: "t" },
    origin: { site: "h" },
  }));

describe("the stream of changes", { tags: ["redis-server"] }, () => {
  it("has each change once, also where attempts that were given up arrive after the next ones", async () => {
    const { streams, entries } = await streamsOf(await redisServer(), "a");
    const [stream] = streams;
    expect(await stream.add(sent(1, 2, 3))).toEqual(["stored", "stored", "stored"]);
    expect(await stream.add(sent(1))).toEqual(["known"]); // the first attempt, which waited in a connection that broke
    expect(await stream.add(sent(1, 2, 3, 4))).toEqual(["known", "known", "known", "stored"]);
    expect(await entries()).toEqual(["begin", "1 a:1", "2 a:2", "3 a:3", "4 a:4"]);
  });

  it("begins a new feed where a change of a file arrives after one that was made later", async () => {
    const { streams, entries } = await streamsOf(await redisServer(), "a", "b");
    const [a, b] = streams;
    const change = (sequence: number, follows: string, etag?: string): OutgoingChange[] =>
      sent(sequence).map((each) => ({
        ...each,
        change: { ...each.change, path: "/a.txt", ...(etag !== undefined && { etag }) } as OutgoingChange["change"],
        origin: { site: "h", follows },
      }));
    await a.add(change(1, "", '"1"'));
    await b?.add(change(1, '"1"', '"2"'));
    await a.add(change(2, '"foreign"', '"3"')); // another program was in between, of which no server tells
    expect(await entries()).toEqual(["begin", "1 a:1", "2 b:1", "3 a:2"]);
    await b?.add(change(2, '"4"', '"5"'));
    await a.add(change(3, '"3"', '"4"'));
    expect(await entries()).toEqual(["begin", "1 a:1", "2 b:1", "3 a:2", "4 b:2", "5 a:3", "begin"]);
    await a.add(change(4, '"5"', '"6"'));
    await b?.add(change(3, "", '"7"')); // it was deleted before
    await a.add(change(5, '"6"'));
    expect((await entries()).slice(7)).toEqual(["1 a:4", "2 b:3", "3 a:5", "begin"]);
  });

  it("begins a new feed once for all who ask, with numbers from 1 on", async () => {
    const { streams, entries } = await streamsOf(await redisServer(), "a", "b");
    const [a, b] = streams;
    await a.add(sent(1));
    const [feed = ""] = (await a.showPresence(60_000)).split("-");
    await Promise.all([a.begin(feed), b?.begin(feed)]);
    await b?.add(sent(1));
    expect(await entries()).toEqual(["begin", "1 a:1", "begin", "1 b:1"]);
  });

  it("begins a new feed where a server has gone, and where Redis was emptied and may have forgotten one that has", async () => {
    const redis = await redisServer();
    const { streams, entries } = await streamsOf(redis, "a", "b");
    const [a, b] = streams;
    await b?.showPresence(10);
    await expect.poll(async () => [await a.showPresence(60_000, { looks: true }), await entries()][1]).toHaveLength(2);
    await redis.ask("FLUSHALL");
    await a.showPresence(10, { wasThere: true });
    await expect.poll(async () => [await a.showPresence(60_000, { looks: true }), await entries()][1]).toHaveLength(2);
    await a.showPresence(10, { wasThere: true });
    expect(await redis.ask("ZRANGE", "{feed}:servers", "0", "-1")).toBe("*1\r\n$1\r\na\r\n"); // nobody else is missed
  });
});
