#!/usr/bin/env node
import { type CommandLine, help, parseCommandLine, UsageError } from "./cli/command-line.ts";
import { logLines, type OperatorLog } from "./cli/log-lines.ts";
import { serve, serveStandardIo } from "./cli/serve.ts";
import { openHostWarnings, startFiles } from "./cli/start-files.ts";
import { readTlsFiles } from "./cli/tls-files.ts";
import { ConfigError } from "./config.ts";
import { messageOf } from "./server/logger.ts";
import { version } from "./server/version.ts";

/** How long timers and connections that plugins left open may delay the exit, in milliseconds. */
const farewellMs = 1_000;

async function main(args: readonly string[]): Promise<0 | 1 | 2> {
  let log: OperatorLog | undefined;
  try {
    const commandLine = parseCommandLine(args, process.env);
    if (commandLine === "help") process.stdout.write(help);
    else if (commandLine === "version") process.stdout.write(`${version}\n`);
    else {
      const style = "target" in commandLine ? commandLine : ({ logFormat: "text", verbose: false } as const);
      log = logLines((line) => process.stderr.write(line), style);
      if ("importFrom" in commandLine) return await importPage(commandLine.importFrom, log);
      if ("initIn" in commandLine) {
        const { writeFirstFiles } = await import("./cli/first-files.ts");
        for (const line of await writeFirstFiles(commandLine.initIn)) process.stdout.write(`filement: ${line}\n`);
      } else if (commandLine.isOverStandardIo) await serveStandardIo(commandLine, log);
      else await (commandLine.check ? check(commandLine, log) : serve(commandLine, log));
    }
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`filement: ${error.message} (filement --help tells more)\n`);
      return 2;
    }
    const problems = error instanceof ConfigError ? error.problems : [messageOf(error)];
    for (const problem of problems) log?.fatal(problem);
    return 1;
  }
}

async function importPage(location: string, log: OperatorLog): Promise<0 | 1> {
  const { importConfig } = await import("./config-page/import-config.ts");
  const { html, problems } = await importConfig(location);
  process.stdout.write(html);
  for (const problem of problems) log.fatal(problem);
  return problems.length === 0 ? 0 : 1;
}

async function check(commandLine: CommandLine, log: OperatorLog): Promise<void> {
  if (commandLine.tls) await readTlsFiles(commandLine.tls);
  let failures = 0;
  const error: OperatorLog["error"] = (fields, message) => {
    failures += 1;
    log.error(fields, message);
  };
  const { files, config, address } = await startFiles(commandLine, { ...log, error });
  for (const warning of openHostWarnings(config, address.host)) log.warn({}, warning);
  await files.close();
  if (failures > 0) throw new Error(`${commandLine.target} starts, with the errors above`); // a Redis that is away
  process.stdout.write(`filement: ${commandLine.target} is fine\n`);
}

// The reader of the output may be gone (`| head`, a closed terminal). The server goes on.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

process.exitCode = await main(process.argv.slice(2));
setTimeout(() => process.exit(), farewellMs).unref();
