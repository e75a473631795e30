import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bundled, configDirectory, type Files, hostPage, pluginItem } from "../config-page/pages.ts";
import { runFilement, startFilement } from "../helpers/filement-command.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

/** What `filement` prints about a page with these plugins and files beside it. */
async function refusal(plugins: string, files: Files = {}): Promise<string> {
  const directory = await configDirectory(hostPage(plugins), files);
  const { code, stdout, stderr } = await runFilement(join(directory, "config.html"), "--port", "0");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  return stderr.replaceAll(directory, "DIR");
}

describe("a configuration that cannot work", () => {
  it("keeps the server from starting when a library does not load", async () => {
    expect(await refusal(pluginItem("file://./auth.mjs"), { "auth.mjs": "import './missing.mjs';" })).toMatch(
      "filement: DIR/config.html:4: library DIR/auth.mjs cannot be used: Cannot find module 'DIR/missing.mjs' imported from DIR/auth.mjs",
    );
  });

  it("is told line by line, with all that is wrong", async () => {
    const printed = await refusal(
      [
        bundled("rate-limit", { requests_per_second: 0 }),
        pluginItem("https://example.org/auth.mjs"),
        pluginItem("file://./plugins/auth.so"),
      ].join("\n"),
    );
    expect(printed.trimEnd().split("\n")).toEqual([
      expect.stringMatching(
        /^filement: DIR\/config\.html:4: rate-limit: requests_per_second is "0": expected a positive/,
      ),
      expect.stringMatching(
        /^filement: DIR\/config\.html:5: library is "https:\/\/example.org\/auth.mjs": expected a file/,
      ),
      expect.stringMatching(
        /^filement: DIR\/config\.html:6: library is "file:\/\/\.\/plugins\/auth\.so": expected the name/,
      ),
    ]);
  });

  it("may be no file at all", { tags: ["mkfifo", "campaign"] }, async () => {
    const directory = await temporaryDirectory();
    const fifo = join(directory, "fifo.html");
    execFileSync("mkfifo", [fifo]);
    expect((await runFilement(fifo, "--check")).code).toBe(1);
    const missing = join(directory, "missing.html");
    expect(await runFilement(missing, "--check")).toEqual({
      code: 1,
      stdout: "",
      stderr: `filement: ${missing}: the file does not exist: expected a file\n`,
    });
  });

  it("leaves a running server as it is, until the library is repaired", async () => {
    const source = (text: string): string =>
      `export default () => ({ name: "hello", handle: () => ({ status: 200, headers: {}, body: "${text}" }) });`;
    const files = { "hello.mjs": source("one") };
    const directory = await configDirectory(hostPage(pluginItem("file://./hello.mjs")), files);
    const { url, kill, printed, waitFor } = await startFilement([join(directory, "config.html")]);
    const said = async (): Promise<string> => (await fetch(url.replace("127.0.0.1", "localhost"))).text();
    expect(await said()).toBe("one");

    await writeFile(join(directory, "hello.mjs"), "export default (");
    kill("SIGHUP");
    await waitFor(/was not loaded/, "stderr");
    expect(printed.stderr).toContain("config.html:4: library");
    expect(await said()).toBe("one");

    await writeFile(join(directory, "hello.mjs"), source("two"));
    kill("SIGHUP");
    await waitFor(/config\.html is loaded/, "stderr");
    expect(await said()).toBe("two");
  });
});
