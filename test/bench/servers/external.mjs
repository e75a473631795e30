import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { unusedPort } from "../../helpers/unused-port.mjs";

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

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
async function isListening(port) {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false; // not yet
  } finally {
    socket.destroy();
  }
}
