import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, it } from "vitest";
import { type Agent, agentOf } from "../helpers/agent.ts";
import { cli, runFilement } from "../helpers/filement-command.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const users = `<div itemscope itemtype="https://example.org/Credential">
<p itemprop="username">agent</p><p itemprop="password">secret</p><p itemprop="encryption">plaintext</p></div>
<div itemscope itemtype="https://example.org/AuthorizationRule">
<p itemprop="username">agent</p><p itemprop="path">/*</p><p itemprop="permission">allow</p></div>
<div itemscope itemtype="https://example.org/AuthorizationRule">
<p itemprop="username">agent</p><p itemprop="path">/*</p><p itemprop="selector">.private</p>
<p itemprop="permission">deny</p></div>`;

async function site(): Promise<string> {
  const root = await temporaryDirectory({ "a.html": '<p id="a">1</p>\n<p class="private">2</p>\n' });
  return root;
}

/** `filement mcp`, as a desktop program starts it. */
function started(args: readonly string[], env: Record<string, string> = {}, mode?: "auto"): Promise<Agent> {
  const program = { command: process.execPath, args: [cli, "mcp", ...args], env };
  return agentOf(new StdioClientTransport({ ...program, stderr: "pipe" }), mode);
}

const path = "/a.html";
const edits = [{ op: "setText", selector: "#a", text: "x" }];

describe("filement mcp", () => {
  it.each([undefined, "auto"] as const)("serves a directory over standard input and output: %s", async (mode) => {
    const root = await site();
    const { call } = await started([root], {}, mode);
    expect((await call("read", { path, selector: "#a" })).told.elements[0].html).toBe('<p id="a">1</p>');
    expect((await call("edit", { path, edits })).told.isWritten).toBe(true);
    expect(await readFile(join(root, "a.html"), "utf8")).toContain('<p id="a">x</p>');
  });

  it("tells a client of changes of files that it has subscribed to", async () => {
    const { client, call } = await started([await site()]);
    const told: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
    await call("edit", { path, edits });
    await client.subscribeResource({ uri: "filement:///a.html" });
    await call("edit", { path, edits: [{ op: "addClass", selector: "#a", class: "b" }] });
    await expect.poll(() => told).toEqual(["filement:///a.html"]);
  });

  it("offers nothing that changes files with --read-only", async () => {
    const { client } = await started([await site(), "--read-only"]);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(["list", "outline", "read", "find"]);
  });

  it("keeps versions of what it changes with --history, and undoes them", async () => {
    const root = await site();
    const { call } = await started([root, "--history", join(await temporaryDirectory(), "site.git")]);
    await call("edit", { path, edits });
    const versions = async () => (await call("versions", { path })).told.versions;
    await expect.poll(async () => (await versions())?.length).toBe(2);
    const [{ commit }] = await versions();
    expect((await call("undo", { path, commit })).isError).toBe(false);
    expect(await readFile(join(root, "a.html"), "utf8")).toContain('<p id="a">1</p>');
  });

  it("is the user whom the environment names", async () => {
    const root = await site();
    const file = join(await temporaryDirectory({ "users.html": users }), "users.html");
    const signedIn = { FILEMENT_USER: "agent", FILEMENT_PASSWORD: "secret" };
    const { call } = await started([root, "--users", file], signedIn);
    expect((await call("edit", { path, edits })).isError).toBe(false);
    expect((await call("read", { path, selector: ".private" })).told.elements).toEqual([]);
    const wrong = { ...signedIn, FILEMENT_PASSWORD: "wrong" };
    await expect(started([root, "--users", file], wrong)).rejects.toThrow();
  });

  it("says what it cannot do", async () => {
    const root = await site();
    const answers = [await runFilement("mcp", join(root, "a.html")), await runFilement("mcp", root, "--access-log")];
    expect(answers.map(({ code }) => code)).toEqual([2, 2]);
    expect(answers.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining("mcp expects a directory, not a page"),
      expect.stringContaining("mcp has no standard output for --access-log"),
    ]);
  });
});
