import { parseArgs } from "node:util";
import { isHostName } from "../options/check-config.ts";
import { messageOf } from "../server/logger.ts";
import type { LogFormat } from "./log-lines.ts";
import type { TlsFiles } from "./tls-files.ts";

export const help = `Usage: filement [directory | bucket] [options]
       filement config.html [options]
       filement import-config old.html
       filement init [directory]
       filement mcp [directory | bucket] [--read-only] [--users FILE] [--history DIR]

Serves a directory over HTTP, to read and to write: whole files, and the elements of HTML pages by CSS selector.
With an HTML page, serves what its microdata says: hosts, plugins and their parameters. import-config prints a page
of rusty-beam in the words of this server, with a comment at each difference (docs/coming-from-rusty-beam.md). init
writes a page with sign-in, and files for Docker, Compose and systemd; none is replaced (docs/deploying.md).
mcp serves a language model over standard input and output, and listens on no port (docs/agents.md).

  directory          what to serve                     (default: .)
  bucket             s3://NAME/PREFIX, keys in the environment   (docs/scaling.md)
  config.html        the configuration of the server   (docs/configuration.md)
  -p, --port N       port to listen on; 0 picks one    (default: PORT of the environment, bindPort, or 3000)
  --host ADDRESS     address to listen on              (default: HOST of the environment, bindAddress, or 127.0.0.1)
  --allowed-host NAME
                     answer to this name, too, where only this computer can reach the server (docs/security.md)
  --live             of a directory: tell open pages of every change, also by other programs (docs/live-pages.md)
  --users FILE       of a directory: who may read and write, by name and password (docs/plugins/basic-auth.md)
  --history DIR      of a directory: every change becomes a commit of this git repository (docs/plugins/history.md)
  --single           of a directory: index.html where nothing is, for single-page applications
  --cors             of a directory: scripts of every origin may read
  --mcp              of a directory: language models may connect at /mcp (docs/agents.md)
  --access-log       of a directory: a line for each request on standard output, in Common format
  --read-only        take GET, HEAD and OPTIONS only, whatever the configuration says
  --cert FILE        certificate chain in PEM: serve HTTPS, with HTTP/2
  --key FILE         its private key in PEM
  --check            do all that a start does but listen, say what is wrong, and exit
  --watch-config     load the configuration again when the page changes, and not only at SIGHUP
  --log-format KIND  text or json, on standard error   (default: text)
  -v, --verbose      log every request, and every one that a limit refuses
  -h, --help         print this and exit
  --version          print the version and exit

Signals: SIGHUP loads configuration and certificate again and reopens log files; SIGINT and SIGTERM finish the requests
in flight and end the process, a second one ends it at once.

Exit status: 0 after SIGINT or SIGTERM, for a --check that finds nothing wrong, and for an imported page that loads; 1
when the server cannot start, or cannot stop in order, and for an imported page that does not load; 2 for a wrong
command line.
`;

type Switch = "live" | "single" | "cors" | "accessLog" | "mcp" | "readOnly" | "check" | "watchConfig" | "verbose";

export interface CommandLine extends Readonly<Record<Switch, boolean>> {
  /** A directory, the URL of a bucket, or the page that configures the server. */
  readonly target: string;
  /** Whether a language model is served over standard input and output, and nothing else is. */
  readonly isOverStandardIo: boolean;
  /** `undefined` where the configuration is to say. */
  readonly port: number | undefined;
  readonly host: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly users: string | undefined;
  readonly history: string | undefined;
  readonly tls: TlsFiles | undefined;
  readonly logFormat: LogFormat;
}

export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Reads the arguments; `"help"` and `"version"` where only that is wanted. Throws {@link UsageError}. */
export function parseCommandLine(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): CommandLine | { readonly importFrom: string } | { readonly initIn: string } | "help" | "version" {
  const { values, positionals: given } = parse(args);
  if (values.help) return "help";
  if (values.version) return "version";
  const [first, ...others] = given;
  // A directory of this name is `./import-config`.
  if (first === "import-config") return { importFrom: onlyOne(others[0], others, "import-config expects one page") };
  if (first === "init") return { initIn: onlyOne(others[0] ?? ".", others, "init expects one directory") };
  const isOverStandardIo = first === "mcp";
  const { "access-log": accessLog, "allowed-host": names, "log-format": format, cert, key, ...rest } = values;
  if (isOverStandardIo && accessLog) throw new UsageError("mcp has no standard output for --access-log");
  const positionals = isOverStandardIo ? others : given;
  const [target = ".", second] = positionals;
  if (second !== undefined)
    throw new UsageError(`expected one directory, bucket or page, got "${target}" and "${second}"`);
  // It would be the working directory.
  if (positionals.includes("")) throw new UsageError('expected a directory or a page, got ""');
  // An empty address would be every address. In the environment, what is empty is not there.
  const { port = environment["PORT"] || undefined, host = environment["HOST"] || undefined } = values;
  if (host === "") throw new UsageError("--host expects an address");
  const { live, users, history, single, cors, mcp, check, verbose } = rest;
  return {
    ...{ target, isOverStandardIo, host, live, users, history, single, cors, mcp, accessLog, check, verbose },
    port: port === undefined ? undefined : portOf(port),
    allowedHosts: names.map(hostNameOf),
    readOnly: rest["read-only"],
    tls: tlsOf(cert, key),
    watchConfig: rest["watch-config"],
    logFormat: logFormatOf(format),
  };
}

function onlyOne(operand: string | undefined, all: readonly string[], problem: string): string {
  if (!operand || all.length > 1) throw new UsageError(problem);
  return operand;
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        port: { type: "string", short: "p" },
        host: { type: "string" },
        "allowed-host": { type: "string", multiple: true, default: [] },
        live: { type: "boolean", default: false },
        users: { type: "string" },
        history: { type: "string" },
        single: { type: "boolean", default: false },
        cors: { type: "boolean", default: false },
        "access-log": { type: "boolean", default: false },
        mcp: { type: "boolean", default: false },
        "read-only": { type: "boolean", default: false },
        cert: { type: "string" },
        key: { type: "string" },
        check: { type: "boolean", default: false },
        "watch-config": { type: "boolean", default: false },
        "log-format": { type: "string", default: "text" },
        verbose: { type: "boolean", short: "v", default: false },
        help: { type: "boolean", short: "h", default: false },
        version: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw new UsageError(messageOf(error).split(". ", 1)[0]); // the rest explains how to name such a file
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port expects a number from 0 to 65535, got "${text}"`);
}

function hostNameOf(text: string): string {
  if (text !== "*" && isHostName(text)) return text;
  throw new UsageError(`--allowed-host expects a host name without port, got "${text}"`);
}

function tlsOf(cert: string | undefined, key: string | undefined): TlsFiles | undefined {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw new UsageError("--cert and --key go together");
  return { cert, key };
}

function logFormatOf(text: string): LogFormat {
  if (text === "text" || text === "json") return text;
  throw new UsageError(`--log-format expects text or json, got "${text}"`);
}
