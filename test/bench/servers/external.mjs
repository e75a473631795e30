import { spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { isListening, unusedPort } from "../../helpers/unused-port.mjs";

/**
 * Runs a server that is no Node program, tells its port to the process that started this one, and ends with that.
 *
 * @param {string} command
 * @param {(port: number) => readonly string[] | Promise<readonly string[]>} args
 */
export async function runExternal(command, args) {
  const port = await unusedPort();
  const server = spawn(command, await args(port), { stdio: ["ignore", "ignore", "inherit"] });
  process.once("disconnect", () => server.kill("SIGKILL"));
  server.once("exit", () => process.exit());
  while (!(await isListening(port))) await setTimeout(20);
  process.send?.({ port });
}
