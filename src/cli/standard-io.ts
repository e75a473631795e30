import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type CommandLine, type Environment, UsageError } from "./command-line.ts";
import type { OperatorLog } from "./log-lines.ts";
import { signalled } from "./serve.ts";
import { isPage, startFiles } from "./start-files.ts";

/** Serves a language model over standard input and output, as the user whom `FILEMENT_USER` names. */
export async function serveStandardIo(
  commandLine: CommandLine,
  log: OperatorLog,
  environment: Environment,
): Promise<void> {
  if (await isPage(commandLine.target)) throw new UsageError("mcp expects a directory, not a page");
  const { mcpDoor } = await import("../plugins/mcp/door.ts");
  const door = mcpDoor();
  const { files } = await startFiles({ ...commandLine, mcp: door.plugin }, log);
  try {
    const ended = Promise.race([
      once(process.stdin, "close"),
      once(process.stdin, "end"),
      signalled("SIGINT", "SIGTERM"),
    ]);
    const served = await door.serve(process.stdin, process.stdout, credentialsIn(environment));
    await ended;
    await served.close();
  } finally {
    await files.close();
  }
}

function credentialsIn({ FILEMENT_USER: name, FILEMENT_PASSWORD: password = "" }: Environment): Record<string, string> {
  if (!name) return {};
  return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}` };
}
