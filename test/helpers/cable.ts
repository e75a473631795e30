import { connect, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { listen } from "./serve.ts";

/** A cable between a program and a server, with which a test can do what happens to cables. */
export interface Cable {
  /** Where to connect to instead of the server. */
  readonly url: string;
  /** Connections made so far. */
  readonly connections: number;
  /** Ends all connections; new ones can be made. */
  cut(): void;
  /** Ends all connections, and refuses new ones. */
  pull(): void;
  /** Mends what was pulled; to another port, where one is given. */
  plugIn(port?: number): void;
  /** Lets everything through later by some milliseconds; 0: at once. */
  delay(ms: number): void;
  /** Lets nothing through, and ends nothing; also on new connections. */
  silence(): void;
  /** Lets everything through again, what was held back first. */
  restore(): void;
}

/** Puts a cable in front of a server of this machine, until the test is over. */
export async function cableTo(url: string): Promise<Cable> {
  const { protocol, port } = new URL(url);
  const pairs = new Set<readonly [Socket, Socket]>();
  let target = Number(port);
  let isIn = true;
  let isSilent = false;
  let connections = 0;
  let delayMs = 0;
  const server = createServer((inner) => {
    if (!isIn) return void inner.destroy();
    connections += 1;
    const outer = connect(target, "127.0.0.1");
    const pair = [inner, outer] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [outer, inner] as const]) {
      let [line, waiting] = [Promise.resolve(), 0];
      from.on("data", (piece) => {
        if (delayMs === 0 && waiting === 0) return void to.write(piece);
        const due = pause(delayMs);
        waiting += 1;
        line = line.then(async () => {
          await due;
          waiting -= 1;
          to.write(piece);
        });
      });
      from.on("error", () => {});
      from.on("close", () => {
        pairs.delete(pair);
        to.destroy();
      });
      if (isSilent) from.pause();
    }
  });
  const cut = (): void => {
    for (const socket of [...pairs].flat()) socket.destroy();
  };
  const own = await listen(server);
  onTestFinished(cut);
  return {
    url: `${protocol}//127.0.0.1:${own}`,
    get connections() {
      return connections;
    },
    cut,
    pull() {
      isIn = false;
      cut();
    },
    plugIn(other = target) {
      target = other;
      isIn = true;
    },
    delay(ms) {
      delayMs = ms;
    },
    silence() {
      isSilent = true;
      for (const socket of [...pairs].flat()) socket.pause();
    },
    restore() {
      isSilent = false;
      for (const socket of [...pairs].flat()) socket.resume();
    },
  };
}
