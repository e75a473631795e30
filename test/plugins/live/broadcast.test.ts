import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ChosenElements } from "../../../src/elements/selection.ts";
import type { Audience } from "../../../src/plugins/live/audience.ts";
import { Broadcast } from "../../../src/plugins/live/broadcast.ts";
import type { Encode } from "../../../src/plugins/live/change-message.ts";
import { LiveClient } from "../../../src/plugins/live/live-client.ts";
import { permitAll } from "../../../src/server/access.ts";
import { ChangeFeed, type FeedEnd, type FeedPosition, type PastChange } from "../../../src/server/change-feed.ts";
import { elementsOf } from "../../elements/pages.ts";
import { stepClock, turnsUntil } from "../../helpers/counted-work.ts";
import { seededRandom, timesOf } from "../../helpers/effort.ts";
import { accessOf } from "../../helpers/file-request.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

const encode: Encode = ({ id }) => Buffer.from(String(id));

const stream = new PassThrough();

/** A client that notes what it is told. */
class Noting extends LiveClient {
  readonly encode: Encode;
  readonly noted: string[] = [];
  readonly buffers: Buffer[] = [];
  isHeld = false;
  onWrite: () => void = () => {};
  readonly #waiting: (() => void)[] = [];

  constructor(audience: Partial<Audience> = {}, encodeChange: Encode = encode) {
    const of = { site: "s", path: undefined, connectedTo: "/ws", exchange: {} as never, isProven: () => true };
    super({ ...of, access: permitAll, ...audience }, stream, new Promise(() => {}));
    this.encode = encodeChange;
  }

  override get isFull(): boolean {
    return this.isHeld;
  }

  beat(): void {}

  dismiss(): void {}

  write(bytes: Buffer): void {
    this.buffers.push(bytes);
    this.noted.push(String(bytes));
    this.onWrite();
  }

  writeGap(): void {
    this.noted.push("gap");
  }

  writeHello({ name, lastId }: FeedPosition): void {
    this.noted.push(`hello ${name}:${lastId}`);
  }

  override drained(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  drain(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** On a clock that stands still, so that also a busy machine tells in one turn what a test has it tell. */
function feedAndBroadcast(): { feed: ChangeFeed; broadcast: Broadcast; publish: (count?: number) => void } {
  stepClock(0);
  const fail = (error: unknown): never => {
    throw error;
  };
  const feed = new ChangeFeed(fail);
  const publish = (count = 1): void => {
    const change = { kind: "replaced", method: "PUT", host: "h", path: "/a", requestId: "r" } as const;
    for (let i = 0; i < count; i += 1) feed.publish(change, { site: "s" });
  };
  return { feed, broadcast: new Broadcast(feed, fail), publish };
}

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => String(from + index));

describe("Broadcast", () => {
  it("tells everyone of each change in order, in the same bytes", async () => {
    const { broadcast, publish } = feedAndBroadcast();
    const clients = Array.from({ length: 50 }, () => new Noting());
    for (const client of clients) broadcast.join(client, "now");
    publish(3);
    expect(clients[0]?.noted).toEqual([]); // not before the reply
    await broadcast.delivered();
    for (const client of clients) expect(client.noted).toEqual(["1", "2", "3"]);
    for (const client of clients) expect(client.buffers[2]).toBe(clients[0]?.buffers[2]);
  });

  it("tells those who leave no more, also in the midst of a change", async () => {
    const { broadcast, publish } = feedAndBroadcast();
    const clients = [new Noting(), new Noting(), new Noting()] as const;
    const leave = clients.map((client) => broadcast.join(client, "now"));
    clients[0].onWrite = () => leave[1]?.();
    publish(2);
    await broadcast.delivered();
    expect(clients.map(({ noted }) => noted)).toEqual([["1", "2"], [], ["1", "2"]]);
  });

  it("gives way to others while it tells very many", async () => {
    const { broadcast, publish } = feedAndBroadcast();
    const clock = stepClock(0);
    const clients = Array.from({ length: 10_000 }, () => {
      const client = new Noting();
      client.onWrite = () => clock.pass(0.01);
      broadcast.join(client, "now");
      return client;
    });
    publish(1);
    expect(await turnsUntil(broadcast.delivered())).toBeGreaterThan(10); // 100 ms in pieces of 5
    expect(clients.every(({ noted }) => noted.length === 1)).toBe(true);
  });

  it("has those wait who make changes, where more than a hundred are to be told, and holds nobody up meanwhile", async () => {
    const { feed, broadcast, publish } = feedAndBroadcast();
    const clock = stepClock(0);
    const client = new Noting();
    client.onWrite = () => clock.pass(1);
    broadcast.join(client, "now");
    publish(100);
    expect(feed.congestion).toBeUndefined();
    publish(50);
    expect(client.noted).toEqual([]);
    expect(await turnsUntil(feed.congestion ?? Promise.reject(new Error("nobody waits")))).toBeGreaterThan(5); // 50 ms by 5
    expect(client.noted.length).toBeGreaterThanOrEqual(50);
    expect(client.noted.length).toBeLessThan(100);
    expect(feed.congestion).toBeUndefined();
    await broadcast.delivered();
    expect(client.noted).toEqual(numbers(1, 150));
  });

  it("needs the elements of an edit only where they decide for one of the clients", () => {
    const { feed, broadcast } = feedAndBroadcast();
    const access = (whole: boolean, some: boolean) => accessOf((_right, _path, elements) => (elements ? some : whole));
    broadcast.join(new Noting(), "now");
    broadcast.join(new Noting({ access: access(true, true) }), "now");
    broadcast.join(new Noting({ access: access(false, false) }), "now");
    expect(feed.judgesElements("/a")).toBe(false);
    const judged = access(false, true);
    const leave = broadcast.join(new Noting({ access: judged }), "now");
    expect(feed.judgesElements("/a")).toEqual([judged]);
    leave();
    expect(feed.judgesElements("/a")).toBe(false);
    for (let count = 0; count < 100; count += 1) broadcast.join(new Noting({ access: access(true, true) }), "now");
    expect(feed.judgesElements("/a")).toBe(true); // perhaps; to ask all would take its time
  });

  it("tells some at once to a program that publishes a thousand changes without a pause", async () => {
    const { broadcast, publish } = feedAndBroadcast();
    const clients = [new Noting(), new Noting()] as const;
    for (const client of clients) broadcast.join(client, "now");
    publish(1050);
    for (const { noted } of clients) expect(noted.length).toBeGreaterThanOrEqual(50);
    await broadcast.delivered();
    for (const { noted } of clients) expect(noted).toEqual(numbers(1, 1050));
  });

  it("has who comes back catch up, no faster than it reads, and then go on with the others", async () => {
    stepClock(0); // what is sent is done in one slice
    const { broadcast, publish } = feedAndBroadcast();
    publish(10);
    const client = new Noting();
    client.isHeld = true;
    broadcast.join(client, 4);
    expect(client.noted).toEqual(["5"]);
    publish();
    client.drain();
    await setImmediate();
    expect(client.noted).toEqual(["5", "6"]);
    client.isHeld = false;
    client.drain();
    await setImmediate();
    publish();
    await broadcast.delivered();
    expect(client.noted).toEqual(numbers(5, 12));
  });

  it("judges by elements piece by piece, and gives way to others meanwhile", async () => {
    const { feed, broadcast } = feedAndBroadcast();
    const document = await parseHtml("<p>".repeat(20_000));
    const all = new ChosenElements(document, elementsOf(document), 10_000_000);
    const access = accessOf((_right, _path, asked) => typeof asked === "object" && asked.touch("p:not(p ~ i)"));
    const clients = [new Noting({ access }), new Noting({ access })] as const;
    for (const client of clients) broadcast.join(client, "now");
    stepClock(1); // a piece takes a millisecond or more: others have their turn after five
    const change = { kind: "elements-replaced", method: "PUT", host: "h", path: "/a", requestId: "r" } as const;
    feed.publish({ ...change, selector: "p" }, { site: "s", elements: [{ before: all, after: all }] });
    expect(await turnsUntil(broadcast.delivered())).toBeGreaterThan(5);
    for (const { noted } of clients) expect(noted).toEqual(["1"]);
  });

  it("begins anew with a gap for who cannot catch up", async () => {
    const { broadcast, publish } = feedAndBroadcast();
    publish(1_500);
    const longAgo = new Noting();
    broadcast.join(longAgo, 3);
    const future = new Noting();
    broadcast.join(future, 1_501);
    const unknown = new Noting();
    broadcast.join(unknown, "unknown");
    const slow = new Noting();
    slow.isHeld = true;
    broadcast.join(slow, 1_499);
    publish(1_001);
    slow.drain();
    while (slow.noted.length < 2) await setImmediate();
    publish();
    await broadcast.delivered();
    expect(longAgo.noted).toEqual(["gap", ...numbers(1_501, 2_502)]);
    expect(future.noted).toEqual(["gap", ...numbers(1_501, 2_502)]);
    expect(unknown.noted).toEqual(["gap", ...numbers(1_501, 2_502)]);
    expect(slow.noted).toEqual(["1500", "gap", "2502"]);
  });

  it("does not go on with who leaves while it catches up", async () => {
    const { broadcast, publish } = feedAndBroadcast();
    publish(3);
    const client = new Noting();
    client.isHeld = true;
    const leave = broadcast.join(client, 0);
    leave();
    client.drain();
    await setImmediate();
    publish();
    await broadcast.delivered();
    expect(client.noted).toEqual(["1"]);
  });
});

describe("Broadcast of a shared feed", () => {
  /** A feed that goes on elsewhere when the test says so. */
  async function sharedFeed() {
    const { feed, broadcast } = feedAndBroadcast();
    let end: FeedEnd | undefined;
    await feed.share({
      async start(given) {
        end = given;
      },
      send() {},
      async close() {},
    });
    const change = { kind: "replaced", method: "PUT", host: "h", path: "/a", requestId: "r", time: "t" } as const;
    return {
      feed,
      broadcast,
      tell: () => end?.tell(change, { site: "s" }),
      restart: (name: string, lastId: number, hasGap: boolean) =>
        end?.restart({ name, lastId }, pastUpTo(lastId), hasGap),
    };
    function pastUpTo(lastId: number): PastChange[] {
      return numbers(Math.max(1, lastId - 20), lastId).map((id) => ({
        change: { ...change, id: Number(id) },
        site: "s",
      }));
    }
  }

  it("tells that the ids begin anew in the order of the changes, and of a gap where there is one", async () => {
    const { feed, broadcast, tell, restart } = await sharedFeed();
    const client = new Noting();
    restart("one", 7, true);
    broadcast.join(client, "now");
    tell();
    restart("two", 0, false);
    tell();
    restart("one", 12, true);
    tell();
    const late = new Noting();
    broadcast.join(late, 12);
    await broadcast.delivered();
    expect(client.noted).toEqual(["8", "hello two:0", "1", "hello one:12", "gap", "13"]);
    expect([feed.name, feed.lastId, late.noted]).toEqual(["one", 13, ["13"]]);
  });

  it("leaves nothing out without a gap, whoever joins and reads when", async () => {
    const random = seededRandom(5);
    for (let round = 0; round < timesOf(60, 5000); round += 1) {
      const { feed, broadcast, tell, restart } = await sharedFeed();
      const clients: { client: Noting; begins: string }[] = [];
      let [alone, inStream] = [0, 5];
      restart("s", inStream, true);
      for (let step = 0; step < 60; step += 1) {
        const die = random();
        if (die < 0.5) {
          tell();
          if (feed.name === "s") inStream += 1;
        } else if (die < 0.6) {
          const client = new Noting({}, ({ id }, name) => Buffer.from(`${name}:${id}`));
          client.isHeld = random() < 0.3;
          const since = Math.max(0, feed.lastId - Math.floor(8 * random()));
          clients.push({ client, begins: `${feed.name}:${since}` });
          broadcast.join(client, since);
        } else if (die < 0.7) {
          for (const { client } of clients) {
            client.isHeld = false;
            client.drain();
          }
        } else if (die < 0.85) await setImmediate();
        else if (feed.name === "s") {
          alone += 1;
          restart(`alone-${alone}`, 0, false);
        } else {
          inStream += Math.floor(4 * random());
          restart("s", inStream, true);
        }
      }
      for (const { client } of clients) {
        client.isHeld = false;
        client.drain();
      }
      await broadcast.delivered();
      await setImmediate();
      await broadcast.delivered();
      for (const { client, begins } of clients) {
        expect(skipped(begins, client.noted), `${begins}: ${client.noted.join(" ")}`).toEqual([]);
        expect(client.noted.at(-1) ?? begins).toMatch(new RegExp(`gap|hello|:${feed.lastId}$`));
      }
    }
  });

  /** What a client was told that does not follow what it was told before. */
  function skipped(begins: string, noted: readonly string[]): string[] {
    let [name = "", last = Number.NaN] = [begins.split(":")[0], Number(begins.split(":")[1])];
    return noted.filter((each) => {
      if (each === "gap") {
        last = Number.NaN;
        return false;
      }
      const [feed = "", id = ""] = each.replace("hello ", "").split(":");
      const follows = each.startsWith("hello") || (feed === name && (Number.isNaN(last) || Number(id) === last + 1));
      [name, last] = [feed, Number(id)];
      return !follows;
    });
  }
});
