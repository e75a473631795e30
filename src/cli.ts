#!/usr/bin/env node
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { ConfigError } from "./config.ts";
import { createFileServer, type FileServer } from "./file-server.ts";
import type { Logger } from "./logger.ts";
import type { Plugin } from "./plugin.ts";
import { version } from "./version.ts";

const help = `Usage: filement [directory] [options]

Serves a directory over HTTP, to read and to write: whole files, and the elements of HTML pages by CSS selector.

  directory          what to serve                     (default: .)
  --port N           port to listen on; 0 picks one    (default: 3000)
  --host ADDRESS     address to listen on              (default: 127.0.0.1)
  -v, --verbose      log every request on standard error
  --help             print this and exit
  --version          print the version and exit

Exit status: 0 after SIGINT or SIGTERM, 1 when the server cannot start, 2 for a wrong command line.
`;

/** How long a stopping server waits for requests in flight, in milliseconds. */
const drainMs = 10_000;

interface CommandLine {
  readonly directory: string;
  readonly port: number;
  readonly host: string;
  readonly verbose: boolean;
}

/** A command line that makes no sense; the message says why. */
class UsageError extends Error {}

async function main(args: readonly string[]): Promise<void> {
  try {
    const commandLine = parseCommandLine(args);
    if (typeof commandLine === "string") process.stdout.write(commandLine);
    else await serve(commandLine);
  } catch (error) {
    if (error instanceof UsageError) fail(2, `${error.message} (filement --help tells more)`);
    else if (error instanceof ConfigError) fail(1, error.problems.join("; "));
    else fail(1, messageOf(error));
  }
}

/** What to serve, or what to print instead. */
function parseCommandLine(args: readonly string[]): CommandLine | string {
  const { values, positionals } = parse(args);
  if (values.help) return help;
  if (values.version) return `${version}\n`;
  const [directory = ".", ...others] = positionals;
  if (others.length > 0) throw new UsageError(`expected one directory, got also: ${others.join(" ")}`);
  const port = Number(values.port);
  if (!/^\d+$/.test(values.port) || port > 65_535) {
    throw new UsageError(`--port expects a number from 0 to 65535, got "${values.port}"`);
  }
  // An empty address would be every address.
  if (values.host === "") throw new UsageError("--host expects an address");
  return { directory, port, host: values.host, verbose: values.verbose };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        port: { type: "string", default: "3000" },
        host: { type: "string", default: "127.0.0.1" },
        verbose: { type: "boolean", short: "v", default: false },
        help: { type: "boolean", default: false },
        version: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw new UsageError(messageOf(error).split(". ", 1)[0]); // the rest explains how to name such a file
  }
}

async function serve({ directory, port, host, verbose }: CommandLine): Promise<void> {
  const logger = standardError(verbose);
  const files = createFileServer({ root: directory, plugins: verbose ? [requestLog()] : [], logger });
  const server = createServer();
  files.attach(server);
  const signal = stopSignal();
  if (!isLoopback(host)) {
    warn(`anybody who can reach ${host} can change the files in ${directory}: there is no authentication`);
  }
  await files.ready();
  await listen(server, host, port);
  process.stdout.write(`filement: listening on ${urlOf(server)}\n`);
  server.on("error", (error) => logger.error({ err: error }, "cannot accept a connection"));
  await signal;
  await stop(server, files);
}

/** Resolves at the first SIGINT or SIGTERM. The next one ends the process at once, as it does without a handler. */
function stopSignal(): Promise<void> {
  const signals = ["SIGINT", "SIGTERM"] as const;
  return new Promise((resolve) => {
    const hear = (): void => {
      for (const signal of signals) process.off(signal, hear);
      resolve();
    };
    for (const signal of signals) process.on(signal, hear);
  });
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new Error(listenProblem(error as NodeJS.ErrnoException, host, port), { cause: error });
  }
}

/** Lets requests in flight finish, refuses new ones, and ends the process by leaving it nothing to do. */
async function stop(server: Server, files: FileServer): Promise<void> {
  server.close();
  setTimeout(() => server.closeAllConnections(), drainMs).unref();
  await files.close();
  server.closeIdleConnections();
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo; // listening on an address, so not a pipe
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function listenProblem(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === "EADDRINUSE") return `port ${port} on ${host} is in use; choose another with --port`;
  if (error.code === "EACCES") return `port ${port} on ${host} may not be used by this user; choose one above 1023`;
  return `cannot listen on ${host}:${port}: ${error.message}`;
}

/** One line for every finished request. */
function requestLog(): Plugin {
  return {
    name: "request-log",
    observe({ address, method, url, site }, { status, bytes, durationMs, aborted }) {
      const fields = { address, method, url, status, bytes, ms: Math.round(durationMs), ...(aborted && { aborted }) };
      site.logger.info(fields, "request");
    },
  };
}

/** Lines on standard error: a word for the level, the message, and the fields as JSON, in which nothing can break a line. */
function standardError(verbose: boolean): Logger {
  const line = (level: string) => (fields: object, message: string) => {
    process.stderr.write(`${level}: ${message} ${JSON.stringify(fields, errorsAsText)}\n`);
  };
  const silent = (): void => {};
  return {
    debug: silent,
    info: verbose ? line("info") : silent,
    warn: line("warn"),
    error: line("error"),
  };
}

function errorsAsText(_key: string, value: unknown): unknown {
  return value instanceof Error ? (value.stack ?? value.message) : value;
}

function warn(message: string): void {
  process.stderr.write(`filement: warning: ${message}\n`);
}

function fail(status: 1 | 2, message: string): void {
  process.stderr.write(`filement: ${message}\n`);
  process.exitCode = status;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

await main(process.argv.slice(2));
