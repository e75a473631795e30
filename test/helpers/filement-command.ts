import { join } from "node:path";
import { type RunningNode, runNode, runNodeToEnd } from "./run-node.ts";
import { projectRoot } from "./source-files.ts";

/** The compiled command. */
export const cli: string = join(projectRoot, "dist/cli.js");
/** What it prints when it is ready. */
export const announcement: RegExp = /^filement: listening on (https?:\/\/\S+:\d+)\n/;

export type RunningCommand = RunningNode & { readonly url: string };

/** Starts `filement` with `--port 0`, and waits until it serves. */
export async function startFilement(
  args: readonly string[],
  options?: Parameters<typeof runNode>[1],
): Promise<RunningCommand> {
  const running = runNode([cli, ...args, "--port", "0"], options);
  const [, url = ""] = await running.waitFor(announcement);
  return { ...running, url };
}

/** Runs `filement` to its end. */
export function runFilement(...args: readonly string[]): ReturnType<typeof runNodeToEnd> {
  return runNodeToEnd([cli, ...args]);
}

/** Waits until the server accepts no more connections: the signal has arrived. */
export async function refusesConnections(url: string): Promise<void> {
  for (;;) {
    const isOpen = await fetch(url).then(
      (response) => response.text().then(() => true),
      () => false,
    );
    if (!isOpen) return;
  }
}
