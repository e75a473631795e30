// Starts all parts on this machine: an S3 server, a Redis, two file servers, and nginx in front of them.
// Needs nginx, redis-server and versitygw (go install github.com/versity/versitygw/cmd/versitygw@v1.8.0).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const directory = await mkdtemp(join(tmpdir(), "filement-scale-out-"));
/** @type {import("node:child_process").ChildProcess[]} */
const parts = [];
let isStopping = false;

/** @param {string} command @param {readonly string[]} args @param {NodeJS.ProcessEnv} env */
function start(command, args, env = {}) {
  const part = spawn(command, args, {
    cwd: directory,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...env },
  });
  part.once("error", ({ message }) => stop(`${command}: ${message}`));
  part.once("exit", (code) => isStopping || stop(`${command} has ended with ${code}`));
  parts.push(part);
}

/** Ends everything, the last part first, and removes what it has written. @param {string} [problem] */
async function stop(problem) {
  if (isStopping) return;
  isStopping = true;
  if (problem) console.error(problem);
  for (const part of parts.reverse()) {
    if (part.exitCode !== null || part.pid === undefined) continue;
    const ended = once(part, "exit");
    part.kill();
    await ended;
  }
  await rm(directory, { recursive: true, force: true });
  process.exit(problem ? 1 : 0);
}

/** The port, or with PORT=0 one that is free. @param {number} usual */
async function portOf(usual) {
  if (process.env["PORT"] !== "0") return usual;
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address ? address.port : usual;
}

/** Waits until somebody listens. @param {number} port */
async function listening(port) {
  while (!isStopping) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await pause(50);
  }
}

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop());

const [front = 3000, one = 3001, other = 3002, redis = 6379, s3 = 7070] = await Promise.all(
  [3000, 3001, 3002, 6379, 7070].map(portOf),
);
const keys = { id: "an-access-key", secret: "a-secret-key" };

await cp(join(here, "site"), join(directory, "buckets/site"), { recursive: true }); // a directory is a bucket
await mkdir(join(directory, "temp"));
start("versitygw", ["--port", `127.0.0.1:${s3}`, "posix", join(directory, "buckets")], {
  ROOT_ACCESS_KEY_ID: keys.id,
  ROOT_SECRET_ACCESS_KEY: keys.secret,
});
start("redis-server", [
  "--port",
  `${redis}`,
  "--bind",
  "127.0.0.1",
  "--save",
  "",
  "--appendonly",
  "no",
  "--loglevel",
  "warning",
]);
await Promise.all([s3, redis].map(listening));

const env = { REDIS: `redis://127.0.0.1:${redis}`, S3: `http://127.0.0.1:${s3}` };
const access = { AWS_ACCESS_KEY_ID: keys.id, AWS_SECRET_ACCESS_KEY: keys.secret };
for (const port of [one, other]) {
  start(process.execPath, [join(here, "server.mjs")], { ...env, ...access, PORT: `${port}` });
}
await Promise.all([one, other].map(listening));

const conf = (await readFile(join(here, "nginx.conf"), "utf8"))
  .replace(":3000", `:${front}`)
  .replace(":3001", `:${one}`)
  .replace(":3002", `:${other}`);
await writeFile(join(directory, "nginx.conf"), conf);
start("nginx", ["-p", directory, "-c", "nginx.conf"]);
await listening(front);
if (!isStopping) console.log(`listening on http://127.0.0.1:${front}/, by servers at ${one} and ${other}`);
