import { describe, expect, it } from "vitest";
import { type LogLinesOptions, logLines, type OperatorLog } from "../../src/cli/log-lines.ts";

function logInto(options: Partial<LogLinesOptions> = {}): { log: OperatorLog; lines: string[] } {
  const lines: string[] = [];
  return { log: logLines((line) => lines.push(line), { logFormat: "text", verbose: false, ...options }), lines };
}

function writeAll(log: OperatorLog): void {
  log.debug({}, "d");
  log.info({ a: 1 }, "i");
  log.warn({}, "w");
  log.error({ b: [2] }, "e");
  log.notice("n");
  log.fatal("f");
}

describe("log lines", () => {
  it("are text with the fields as JSON, where there are any", () => {
    const { log, lines } = logInto({ verbose: true });
    writeAll(log);
    expect(lines).toEqual([
      'info: i {"a":1}\n',
      "warning: w\n",
      'error: e {"b":[2]}\n',
      "filement: n\n",
      "filement: f\n",
    ]);
  });

  it("are one object each with --log-format json, beginning with time, level and message", () => {
    const { log, lines } = logInto({ verbose: true, logFormat: "json" });
    writeAll(log);
    const objects = lines.map((line) => JSON.parse(line));
    expect(objects.map(({ level, message }) => [level, message])).toEqual([
      ["info", "i"],
      ["warning", "w"],
      ["error", "e"],
      ["notice", "n"],
      ["fatal", "f"],
    ]);
    expect(Object.keys(objects[0])).toEqual(["time", "level", "message", "a"]);
    expect(objects[0].time).toBe(new Date(objects[0].time).toISOString());
    expect(lines.every((line) => line.indexOf("\n") === line.length - 1)).toBe(true);
  });

  it("leave out what the library says at level info unless they are to be verbose", () => {
    const { log, lines } = logInto();
    log.info({}, "request");
    log.notice("loaded");
    expect(lines).toEqual(["filement: loaded\n"]);
  });

  it("let no field take the place of time, level or message", () => {
    const { log, lines } = logInto({ logFormat: "json" });
    log.warn({ level: "info", message: "fine", time: "never" }, "fire");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "warning", message: "fire" });
    expect(lines[0]).not.toContain("never");
  });

  it.each(["text", "json"] as const)("let nothing begin another line or steer a terminal, in %s", (logFormat) => {
    const { log, lines } = logInto({ logFormat });
    const hostile = "a\nfake: line\r\x1b[2J\x7f\x9b\u2028\u2029";
    log.warn({ url: hostile, [hostile]: 1 }, hostile);
    expect(lines[0]?.slice(0, -1)).toMatch(/^[\x20-\x7e]+$/);
    expect(lines[0]?.endsWith("\n")).toBe(true);
  });

  it("tell an error with its stack, its cause and what it holds together", () => {
    const { log, lines } = logInto();
    const first = new Error("disk full", { cause: new Error("quota of ada") });
    log.error({ err: new AggregateError([first], "closing failed") }, "sorry");
    for (const text of ["closing failed", "disk full", "quota of ada", "log-lines.test.ts"]) {
      expect(lines[0]).toContain(text);
    }
  });

  it.each(["text", "json"] as const)("write what JSON cannot hold, in %s", (logFormat) => {
    const { log, lines } = logInto({ logFormat });
    const loop: Record<string, unknown> = { big: 12n };
    log.warn(loop, "first");
    loop["self"] = loop;
    log.warn(loop, "second");
    expect(lines[0]).toContain('"big":"12"');
    expect(lines[1]).toContain("[Circular");
  });
});
