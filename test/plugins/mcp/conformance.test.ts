import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { startFilement } from "../../helpers/filement-command.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

/** Those that neither ask for what the suite's own example server has, nor for what `mcp` lacks, such as prompts. */
const scenarios = ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"];

describe("the command with --mcp", () => {
  it.each(scenarios)("conforms to the protocol: %s", { tags: ["conformance"] }, async (scenario) => {
    const cwd = await temporaryDirectory(); // some versions leave their results there
    const { url } = await startFilement([cwd, "--mcp"]);
    const args = ["server", "--url", `${url}/mcp`, "--scenario", scenario];
    const { stdout } = await promisify(execFile)("conformance", args, { cwd });
    expect(stdout).toMatch(/^Passed: (\d)\/\1, 0 failed, 0 warnings$/m);
  });
});
