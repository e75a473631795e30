import { Agent, request } from "node:http";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { webSocket } from "../../src/plugins/web-socket.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { seededRandom, timesOf } from "../helpers/effort.ts";
import { serve } from "../helpers/serve.ts";

const writers = 100;
const changesEach = timesOf(4, 100);
const total = writers * changesEach;

/** Whole numbers below a limit that look random. */
function seeded(seed: number): (below: number) => number {
  const random = seededRandom(seed);
  return (below) => Math.floor(random() * below);
}

/** What a client has heard, over all its connections. */
interface Heard {
  /** From the greeting of its first connection. */
  since: number | undefined;
  readonly ids: number[];
  gaps: number;
  connections: number;
}

/** Follows the changes up to the last one, and now and then leaves without a word and comes back. */
function follow(port: number, random: (below: number) => number): { heard: Heard; done: Promise<void> } {
  const heard: Heard = { since: undefined, ids: [], gaps: 0, connections: 0 };
  const done = new Promise<void>((resolve, reject) => {
    let socket: WebSocket;
    onTestFinished(() => socket.terminate());
    const connect = (): void => {
      const last = lastOf(heard);
      socket = new WebSocket(`ws://127.0.0.1:${port}/ws${last === undefined ? "" : `?since=${last}`}`);
      heard.connections += 1;
      let stays = timesOf(10, 20) + random(timesOf(80, 200));
      socket.on("message", (data) => {
        if (stays === 0) return; // on its way when the client left: told again
        const { type, id } = JSON.parse(String(data));
        if (type === "hello") heard.since ??= id;
        else if (type === "gap") heard.gaps += 1;
        else {
          heard.ids.push(id);
          stays -= 1;
          if (id === total) resolve();
          else if (stays === 0) {
            if (random(2) === 0) socket.terminate();
            else socket.close();
            connect();
          }
        }
      });
      socket.on("error", (error) => stays > 0 && reject(error));
    };
    connect();
  });
  return { heard, done };
}

function lastOf({ ids, since }: Heard): number | undefined {
  return ids.at(-1) ?? since;
}

describe("changes that many make and many follow", () => {
  it("are heard by each client once and in order, whenever it leaves and comes back", async () => {
    const storage = memoryStorage(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`/${i}.txt`, ""])));
    const { port, files } = await serve({ storage, plugins: [webSocket()] });
    const random = seeded(42);
    const committed: number[] = [];
    files.changes.subscribe(({ id }) => committed.push(id));
    const followers = Array.from({ length: 20 }, (_, i) => follow(port, seeded(i + 1)));
    // Only the last 1,000 changes are remembered for who comes back.
    const keepTogether = async (): Promise<void> => {
      const furthest = (): number => Math.min(...followers.map(({ heard }) => lastOf(heard) ?? committed.length));
      while (committed.length - furthest() > 500) await setImmediate();
    };

    const agent = new Agent({ keepAlive: true, maxSockets: writers });
    onTestFinished(() => agent.destroy());
    const write = (): Promise<number> =>
      new Promise((resolve, reject) => {
        const path = `/${random(10)}.txt`;
        const outgoing = request({ port, agent, method: random(2) === 0 ? "PUT" : "POST", path }, (incoming) => {
          incoming.resume().on("end", () => resolve(incoming.statusCode ?? 0));
        });
        outgoing.on("error", reject).end("x");
      });
    await Promise.all(
      Array.from({ length: writers }, async () => {
        for (let i = 0; i < changesEach; i += 1) {
          await keepTogether();
          expect(await write()).toBe(200);
        }
      }),
    );

    await Promise.all(followers.map(({ done }) => done));
    expect(committed).toHaveLength(total);
    for (const { heard } of followers) {
      const { since = total, ids, gaps, connections } = heard;
      expect(gaps).toBe(0);
      expect(connections).toBeGreaterThan(5);
      expect(ids).toEqual(Array.from({ length: total - since }, (_, i) => since + 1 + i));
    }
  });
});
