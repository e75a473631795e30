import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { programPath } from "../helpers/needs.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { unusedPort } from "../helpers/unused-port.mjs";

/** A Redis of a test, which keeps nothing from one run to the next unless it is told to. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Ends it at once, as the machine does when it fails. */
  kill(): Promise<void>;
  /** Starts it again at the same port. */
  start(): Promise<void>;
  /** Sends a command over a connection of its own, and gives the reply as Redis writes it. */
  ask(...command: readonly string[]): Promise<string>;
}

/** Starts a Redis for the test that is running. With `keeps`, what was written outlives it. */
export async function redisServer({ keeps = false } = {}): Promise<RedisServer> {
  const directory = await temporaryDirectory();
  const port = await unusedPort();
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const persistence = ["--save", "", "--appendonly", keeps ? "yes" : "no", "--appendfsync", "always"];
    const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", directory, ...persistence];
    child = spawn(programPath("redis-server") as string, args, { stdio: "ignore" });
    for (;;) {
      try {
        if ((await ask("PING")) === "+PONG\r\n") return;
      } catch {
        if (child.exitCode !== null) throw new Error("redis-server has ended"); // not listening yet
      }
    }
  }

  async function kill(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "close");
    child.kill("SIGKILL");
    await ended;
  }

  async function ask(...command: readonly string[]): Promise<string> {
    const socket = connect(port, "127.0.0.1").setEncoding("utf8");
    try {
      await once(socket, "connect");
      const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
      socket.write(`*${command.length}\r\n${parts.join("")}`);
      const [reply] = await once(socket, "data");
      return reply as string;
    } finally {
      socket.destroy();
    }
  }

  onTestFinished(kill);
  await start();
  return { port, url: `redis://127.0.0.1:${port}`, kill, start, ask };
}

/** A cable between a program and a server that can be cut, or go silent. */
export interface Cable {
  readonly url: string;
  /** Connections made so far. */
  readonly connections: number;
  /** Ends all connections; new ones can be made. */
  cut(): void;
  /** Lets everything through later by some milliseconds; 0: at once. */
  delay(ms: number): void;
  /** Lets nothing through, and ends nothing; also on new connections. */
  silence(): void;
  /** Lets everything through again, what was held back first. */
  restore(): void;
}

/** Puts a cable in front of a server, for the test that is running. */
export async function cableTo({ port }: Pick<RedisServer, "port">): Promise<Cable> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isSilent = false;
  let connections = 0;
  let delayMs = 0;
  const server = createServer((inner) => {
    connections += 1;
    const outer = connect(port, "127.0.0.1");
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
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of [...pairs].flat()) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${portOf(server)}`,
    get connections() {
      return connections;
    },
    cut,
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

function portOf(server: Server): number {
  return (server.address() as { port: number }).port;
}
