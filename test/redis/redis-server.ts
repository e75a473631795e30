import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
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
  let port = await unusedPort();
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const persistence = ["--save", "", "--appendonly", keeps ? "yes" : "no", "--appendfsync", "always"];
    const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", directory, ...persistence];
    child = spawn(programPath("redis-server") as string, args, { stdio: "ignore" });
    while (child.exitCode === null) {
      const info = await ask("INFO", "server").catch(() => ""); // not listening yet
      if (info.includes(`process_id:${child.pid}\r\n`)) return;
    }
    throw new Error(`redis-server has ended, perhaps since port ${port} has become another's`);
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
  await start().catch(async () => {
    port = await unusedPort();
    await start();
  });
  return { port, url: `redis://127.0.0.1:${port}`, kill, start, ask };
}
