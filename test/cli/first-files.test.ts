import { execFile } from "node:child_process";
import { mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parseCommandLine } from "../../src/cli/command-line.ts";
import { writeFirstFiles } from "../../src/cli/first-files.ts";
import { runFilement, startFilement } from "../helpers/filement-command.ts";
import { runNodeToEnd } from "../helpers/run-node.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { unusedPort } from "../helpers/unused-port.mjs";

const run = promisify(execFile);

/** The values of a line of the Dockerfile that is a JSON array. */
function listIn(dockerfile: string, instruction: RegExp): string[] {
  const [, list = ""] = new RegExp(`^${instruction.source} (\\[.*\\])$`, "m").exec(dockerfile) ?? [];
  return JSON.parse(list);
}

describe("filement init", () => {
  it("writes a page that the command takes, where the user with the password that it tells may write", async () => {
    const directory = join(await temporaryDirectory(), "server");
    const { code, stdout, stderr } = await runFilement("init", directory);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [, password] = /^filement: the user admin has the password (\S{20}), /m.exec(stdout) ?? [];
    expect(stdout.match(/^filement: wrote \S+$/gm)).toHaveLength(5);
    expect(await readFile(join(directory, "users.html"), "utf8")).not.toContain(password);

    const page = join(directory, "config.html");
    expect(await runFilement("--check", page)).toMatchObject({ code: 0, stdout: `filement: ${page} is fine\n` });
    const { url } = await startFilement([page]);
    const write = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${url}/a.txt`, { method: "PUT", body: "a", headers })).status;
    expect(await write({})).toBe(401);
    expect(await write({ authorization: `Basic ${btoa("admin:guessed")}` })).toBe(401);
    expect(await write({ authorization: `Basic ${btoa(`admin:${password}`)}` })).toBe(201);
    expect(await (await fetch(`${url}/a.txt`)).text()).toBe("a");

    const [, ...probe] = listIn(await readFile(join(directory, "Dockerfile"), "utf8"), /HEALTHCHECK.* CMD/);
    const probed = async (port: string | number): Promise<number | null> =>
      (await runNodeToEnd(probe.map((part) => part.replace("3000", `${port}`)))).code;
    expect(await probed(new URL(url).port)).toBe(0);
    expect(await probed(await unusedPort())).toBe(1);
  });

  it("writes over nothing that is there, not by way of a link either, and tells no password then", async () => {
    const directory = await temporaryDirectory({ "users.html": "mine" });
    await mkdir(join(directory, "site"), { recursive: true });
    await symlink(join(directory, "elsewhere"), join(directory, "Dockerfile"));
    expect(await writeFirstFiles(directory)).toEqual([
      "kept users.html, which was there",
      "wrote config.html",
      "kept Dockerfile, which was there",
      "wrote compose.yaml",
      "wrote filement.service",
    ]);
    expect(await readFile(join(directory, "users.html"), "utf8")).toBe("mine");
    await expect(stat(join(directory, "elsewhere"))).rejects.toThrow("ENOENT");
  });

  it("lets no other users of the computer read the hashes", { tags: ["posix"] }, async () => {
    const directory = await temporaryDirectory();
    await writeFirstFiles(directory);
    expect((await stat(join(directory, "users.html"))).mode & 0o007).toBe(0);
  });

  it("says in one line where it cannot write", async () => {
    const file = join(await temporaryDirectory({ file: "" }), "file");
    expect(await runFilement("init", file)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^filement: .+\n$/),
    });
  });

  it("writes an image that runs the command as another user than root, where Compose puts the files", async () => {
    const directory = await temporaryDirectory();
    await writeFirstFiles(directory);
    const dockerfile = await readFile(join(directory, "Dockerfile"), "utf8");
    const instructions = dockerfile.trimEnd().split("\n");
    expect(instructions.map((line) => line.split(" ")[0])).toEqual(
      "FROM RUN USER EXPOSE HEALTHCHECK ENTRYPOINT CMD".split(" "),
    );
    expect(instructions).toContain("FROM node:lts-slim");
    expect(instructions).toContain("USER node");
    expect(listIn(dockerfile, /ENTRYPOINT/)).toEqual(["filement"]);
    const target = "/etc/filement/config.html";
    expect(parseCommandLine(listIn(dockerfile, /CMD/))).toMatchObject({ target, host: "0.0.0.0" });
    const compose = await readFile(join(directory, "compose.yaml"), "utf8");
    const mounts = [...compose.matchAll(/^ {6}- \.\/(\S+?):(\/\S+?)(:ro)?$/gm)].map(([, from, to]) => [from, to]);
    expect(mounts).toEqual(["config.html", "users.html", "site"].map((name) => [name, `/etc/filement/${name}`]));
    for (const [name = ""] of mounts) await stat(join(directory, name));
  });

  it("writes a unit that systemd understands, whatever the directory is called", {
    tags: ["systemd-analyze"],
  }, async () => {
    const directory = join(await temporaryDirectory(), 'a %z "c" é');
    await writeFirstFiles(directory);
    const unit = join(directory, "filement.service");
    expect(await run("systemd-analyze", ["verify", unit])).toEqual({ stdout: "", stderr: "" });
    // It says so where it does not.
    const text = await readFile(unit, "utf8");
    await writeFile(unit, text.replaceAll("%%", "%"));
    await expect(run("systemd-analyze", ["verify", unit])).rejects.toThrow("specifiers");
  });
});
