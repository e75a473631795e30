import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { projectRoot } from "./source-files.ts";

/** A Node process of a test. */
export interface RunningNode {
  readonly pid: number;
  /** What it has printed so far. */
  readonly printed: { stdout: string; stderr: string };
  /** Exit code and signal, once it has ended and everything that it printed has arrived. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Waits until what was printed matches; throws with all of it when the process ends before. */
  waitFor(pattern: RegExp, output?: "stdout" | "stderr"): Promise<RegExpMatchArray>;
  kill(signal: NodeJS.Signals): void;
}

interface RunOptions {
  /** @default the project's root */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it outlives the test; who starts it before several tests kills it after them. @default false */
  readonly isShared?: boolean;
}

/** Runs `node` with arguments; killed when the test is over. */
export function runNode(
  args: readonly string[],
  { cwd = projectRoot, env = {}, isShared = false }: RunOptions = {},
): RunningNode {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (!isShared) onTestFinished(() => void child.kill("SIGKILL"));
  const printed = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed.stderr += text;
  });
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal }));
  return {
    pid: child.pid ?? 0,
    printed,
    ended,
    async waitFor(pattern, output = "stdout") {
      for (;;) {
        const match = pattern.exec(printed[output]);
        if (match) return match;
        if (child[output].closed) throw new Error(`ended without ${pattern}: ${printed.stdout}${printed.stderr}`);
        const heard = new AbortController(); // so that what did not come is no longer waited for
        const { signal } = heard;
        await Promise.race([once(child[output], "data", { signal }), once(child[output], "close", { signal })]);
        heard.abort();
      }
    },
    kill: (signal) => void child.kill(signal),
  };
}

/** Runs `node` to its end. */
export async function runNodeToEnd(
  args: readonly string[],
  options?: Parameters<typeof runNode>[1],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { printed, ended } = runNode(args, options);
  const { code } = await ended;
  return { code, ...printed };
}
