import { Buffer } from "node:buffer";
import { once } from "node:events";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { WatchedFile } from "../local-files/watched-file.ts";
import { type CommandLine, UsageError } from "./command-line.ts";
import type { OperatorLog } from "./log-lines.ts";
import { type Service, startService } from "./service.ts";
import { isPage, startFiles } from "./start-files.ts";

/** How long a page that has changed has to stay the same, in milliseconds. */
const settleMs = 100;

/** Serves until a signal says to stop. Rejects with what keeps it from starting, or from stopping in order. */
export async function serve(commandLine: CommandLine, log: OperatorLog): Promise<void> {
  const { target, watchConfig } = commandLine;
  const stopped = toldToStop();
  let starting: Promise<Service> | undefined;
  let reloading: Promise<void> = Promise.resolve();
  const reload = (): void => {
    // One after the other. Where the service does not start, that is told below.
    reloading = reloading.then(async () => (await starting)?.reload()).catch(() => {});
  };
  // From the first moment to the last: without a handler the signal ends the process.
  process.on("SIGHUP", reload);
  const isConfigured = await isPage(target);
  if (watchConfig && !isConfigured) throw new UsageError("--watch-config expects a page, not a directory");
  for (const option of ["live", "users", "history", "single", "cors", "accessLog", "mcp"] as const) {
    const name = option === "accessLog" ? "access-log" : option;
    if (commandLine[option] && isConfigured)
      throw new UsageError(`--${name} expects a directory: a page names its plugins itself`);
  }
  // Editors write a file in several steps: it is whole once it has stayed the same for a moment.
  const watched = { location: resolve(target), load: () => setTimeout(settleMs), onChange: reload };
  const page = watchConfig ? await WatchedFile.open(watched) : undefined;

  starting = startService(commandLine, log);
  const service = await Promise.race([starting, stopped]);
  if (service) {
    process.stdout.write(`filement: listening on ${service.url}\n`);
    await stopped;
    await service.stop();
  }
  await page?.close();
}

/** Serves a language model over standard input and output, as the user whom `FILEMENT_USER` names. */
export async function serveStandardIo(commandLine: CommandLine, log: OperatorLog): Promise<void> {
  if (await isPage(commandLine.target)) throw new UsageError("mcp expects a directory, not a page");
  const plugin = (await import("../plugins/mcp.ts")).mcp();
  const { files } = await startFiles({ ...commandLine, mcp: plugin }, log);
  const { FILEMENT_USER: name, FILEMENT_PASSWORD: password = "" } = process.env;
  const credentials = `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
  try {
    const ended = Promise.race([once(process.stdin, "close"), once(process.stdin, "end"), toldToStop()]);
    const served = await plugin.serve(process.stdin, process.stdout, name ? { authorization: credentials } : {});
    await ended;
    await served.close();
  } finally {
    await files.close();
  }
}

/** Resolves at the first SIGINT or SIGTERM. The next one ends the process at once, as it does without a handler. */
async function toldToStop(): Promise<void> {
  const over = new AbortController();
  await Promise.race(["SIGINT", "SIGTERM"].map((name) => once(process, name, { signal: over.signal })));
  over.abort();
}
