import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { help, parseCommandLine, UsageError } from "../../src/cli/command-line.ts";

describe("the command line", () => {
  it("serves the working directory and leaves the rest to the configuration when nothing is said", () => {
    expect(parseCommandLine([])).toEqual({
      target: ".",
      port: undefined,
      host: undefined,
      allowedHosts: [],
      live: false,
      users: undefined,
      single: false,
      cors: false,
      accessLog: false,
      mcp: false,
      isOverStandardIo: false,
      readOnly: false,
      tls: undefined,
      check: false,
      watchConfig: false,
      logFormat: "text",
      verbose: false,
    });
  });

  it("takes what the page about Kubernetes has a pod say", () => {
    const [, args = ""] = /^ +args: (.*)$/m.exec(readFileSync("docs/recipes/kubernetes.md", "utf8")) ?? [];
    expect(parseCommandLine(JSON.parse(args))).toMatchObject({
      target: "/etc/filement/config.html",
      host: "0.0.0.0",
      watchConfig: true,
      logFormat: "json",
    });
  });

  it("takes every option, in any order", () => {
    const options =
      "--cert a.crt --key a.key --allowed-host a.example --allowed-host=b.example -v page.html --port=0 --check --read-only " +
      "--live --users=users.html --single --cors --access-log --host :: --watch-config --log-format json";
    expect(parseCommandLine(options.split(" "))).toEqual({
      target: "page.html",
      port: 0,
      host: "::",
      allowedHosts: ["a.example", "b.example"],
      live: true,
      users: "users.html",
      single: true,
      cors: true,
      accessLog: true,
      mcp: false,
      isOverStandardIo: false,
      readOnly: true,
      tls: { cert: "a.crt", key: "a.key" },
      check: true,
      watchConfig: true,
      logFormat: "json",
      verbose: true,
    });
  });

  it("goes by PORT and HOST of the environment where it says neither itself", () => {
    const environment = { PORT: "8080", HOST: "0.0.0.0" };
    expect(parseCommandLine([], environment)).toMatchObject({ port: 8080, host: "0.0.0.0" });
    expect(parseCommandLine(["-p", "0", "--host", "::1"], environment)).toMatchObject({ port: 0, host: "::1" });
    expect(parseCommandLine([], { PORT: "", HOST: "" })).toMatchObject({ port: undefined, host: undefined });
    expect(() => parseCommandLine([], { PORT: "http" })).toThrow(UsageError);
  });

  it("makes the first files in a directory with init, by default the working directory", () => {
    expect(parseCommandLine(["init"])).toEqual({ initIn: "." });
    expect(parseCommandLine(["init", "server"])).toEqual({ initIn: "server" });
    for (const wrong of [
      ["init", "a", "b"],
      ["init", ""],
    ])
      expect(() => parseCommandLine(wrong)).toThrow(new UsageError("init expects one directory"));
  });

  it("takes what follows -- for the target, whatever it looks like", () => {
    expect(parseCommandLine(["--", "--check"])).toMatchObject({ target: "--check", check: false });
  });

  it.each(["--help", "-h"])("says with %s that help is wanted, whatever else there is", (option) => {
    expect(parseCommandLine(["a", "b", option])).toBe("help");
  });

  it("says with --version that the version is wanted", () => {
    expect(parseCommandLine(["--version"])).toBe("version");
  });

  it.each([
    ["an unknown option", ["--bogus"], "Unknown option '--bogus'"],
    ["a port that is no number", ["--port", "http"], '--port expects a number from 0 to 65535, got "http"'],
    ["an empty port", ["--port="], '--port expects a number from 0 to 65535, got ""'],
    ["a port that is too large", ["--port", "65536"], '--port expects a number from 0 to 65535, got "65536"'],
    ["a port with a sign", ["--port=-1"], '--port expects a number from 0 to 65535, got "-1"'],
    ["an option without its value", ["--port"], "Option '-p, --port <value>' argument missing"],
    ["a value for an option that has none", ["--check=yes"], "Option '--check' does not take an argument"],
    ["an empty address", ["--host="], "--host expects an address"],
    ["an empty target", [""], 'expected a directory or a page, got ""'],
    ["two targets", ["a", "s3://b"], 'expected one directory, bucket or page, got "a" and "s3://b"'],
    ["a certificate without its key", ["--cert", "a"], "--cert and --key go together"],
    ["a key without its certificate", ["--key", "a"], "--cert and --key go together"],
    ["a log format that there is not", ["--log-format", "xml"], '--log-format expects text or json, got "xml"'],
  ])("refuses %s in one line", (_what, args, message) => {
    expect(() => parseCommandLine(args)).toThrow(new UsageError(message));
  });

  it("helps within 120 columns, with every option it takes", () => {
    expect(help.split("\n").every((line) => line.length <= 120)).toBe(true);
    const options = "port host allowed-host live read-only cert key check watch-config log-format verbose help";
    for (const option of options.split(" ")) expect(help).toContain(`--${option}`);
  });
});
