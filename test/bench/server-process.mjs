import { fork } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/**
 * A server of `servers/` in a process of its own.
 *
 * @typedef {object} ServerProcess
 * @property {string} name As it stands in the tables.
 * @property {number} port
 * @property {number} pid
 * @property {() => Promise<void>} stop
 */

/**
 * Starts a server and waits until it listens.
 *
 * @param {string} name
 * @param {string} program File name in `servers/`, without `.mjs`.
 * @param {readonly string[]} args
 * @returns {Promise<ServerProcess>}
 */
export async function startServer(name, program, args) {
  const child = fork(fileURLToPath(new URL(`servers/${program}.mjs`, import.meta.url)), args, { execArgv: [] });
  const ended = once(child, "exit");
  const address = await Promise.race([once(child, "message").then(([message]) => message), ended]);
  if (typeof address?.port !== "number") throw new Error(`${name} did not start`);
  return {
    name,
    port: address.port,
    pid: /** @type {number} */ (child.pid),
    async stop() {
      child.disconnect(); // each ends then, with the program that it may have started
      await ended;
    },
  };
}

/**
 * Processor time of a server so far, all its threads and the programs that it has started, in microseconds. `undefined` where
 * the system is not Linux.
 *
 * @param {number} pid
 * @returns {Promise<number | undefined>}
 */
export async function processorTime(pid) {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => undefined);
  if (!threads) return undefined;
  const times = threads.map(async (thread) => {
    const read = (/** @type {string} */ name) =>
      readFile(`/proc/${pid}/task/${thread}/${name}`, "latin1").catch(() => ""); // it has ended meanwhile
    const [own, started] = [await read("schedstat"), await read("children")];
    const others = started
      .split(" ")
      .filter(Boolean)
      .map((child) => processorTime(Number(child)));
    return sum([Number(own.split(" ", 1)[0]) / 1000, ...(await Promise.all(others))]);
  });
  return sum(await Promise.all(times));
}

/** @param {readonly (number | undefined)[]} values */
function sum(values) {
  return values.reduce((total = 0, value = 0) => total + value, 0) ?? 0;
}

/**
 * Starts servers, does some work with them, and stops them whatever comes of it.
 *
 * @template T
 * @param {readonly Parameters<typeof startServer>[]} wanted
 * @param {(servers: readonly ServerProcess[]) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withServers(wanted, work) {
  /** @type {ServerProcess[]} */
  const servers = [];
  try {
    for (const each of wanted) servers.push(await startServer(...each));
    return await work(servers);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
