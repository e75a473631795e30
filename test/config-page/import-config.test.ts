import { mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConfigError } from "../../src/config.ts";
import { importConfig } from "../../src/config-page/import-config.ts";
import { loadConfig } from "../../src/config-page/load-config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const schema = "http://rustybeam.net";
const row = (name: string, value: string): string => `<tr><td itemprop="${name}">${value}</td></tr>`;
const plugin = (name: string, parameters: Readonly<Record<string, string>> = {}, inside = ""): string => {
  const spans = Object.entries({ library: `file://./plugins/librusty_beam_${name}.so`, ...parameters })
    .map(([property, value]) => `<span itemprop="${property}">${value}</span>`)
    .join("");
  return `<li itemprop="plugin" itemscope itemtype="${schema}/Plugin">${spans}${inside}</li>`;
};
const files = plugin("selector_handler") + plugin("file_handler");
/** Plugins in a list that is marked as a plugin itself, as most pages there have them. */
const list = (plugins: string): string =>
  `<tr><td><ol itemprop="plugin" itemscope itemtype="${schema}/Plugin">${plugins}</ol></td></tr>`;
const page = (rows: string, ofHost = 'id="main-host" itemprop="host"'): string => `<!doctype html>
<table itemref="main-host" itemscope itemtype="${schema}/ServerConfig">
${row("serverRoot", "./site")}${row("port", "3000")}
</table>
<table ${ofHost} itemscope itemtype="${schema}/HostConfig">
${row("hostName", "localhost")}${row("hostRoot", "file://./site")}
${rows}
</table>`;

const users = `<table><tr itemscope itemtype="${schema}/User"><td itemprop="username">mia</td><td itemprop="password">kiwi</td></tr>
<tr itemscope itemtype="${schema}/AuthorizationRule"><td itemprop="username">*</td><td itemprop="path">/*</td>
<td itemprop="method">GET</td><td itemprop="action">allow</td></tr></table>`;

/** The working directory of rusty-beam, with a site and a users file, and a page in a directory of its own. */
async function place(): Promise<string> {
  const directory = await realpath(await temporaryDirectory());
  const before = process.cwd();
  process.chdir(directory);
  onTestFinished(() => process.chdir(before));
  for (const name of ["site", "config", "logs"]) await mkdir(join(directory, name));
  await writeFile(join(directory, "site/a.txt"), "a");
  await writeFile(join(directory, "users.html"), users, { mode: 0o600 });
  return directory;
}

async function imported(directory: string, text: string) {
  await writeFile(join(directory, "config/old.html"), text);
  const { html, problems } = await importConfig("config/old.html");
  const location = join(directory, "config/new.html");
  await writeFile(location, html);
  return { html, problems, location };
}

describe("importConfig", () => {
  it("writes a page of rusty-beam in our words, with a comment at each difference", async () => {
    const directory = await place();
    const log = { log_file: "file://./logs/access.log", rotate_daily: "true" };
    const health = plugin("health_check", { health_endpoint: "/h", ready_endpoint: "/r" });
    const rows =
      row("title", "R &amp; <i>D</i>") +
      list(plugin("config_reload") + plugin("apache_access_log", log) + health + files);
    const { html, problems, location } = await imported(directory, page(rows));
    expect(problems).toEqual([]);
    expect([...html.matchAll(/<!-- (.*) -->/g)].map(([, note]) => note)).toEqual([
      "line 3: the property port is called bindPort here",
      "line 6: the property hostName is called hostname here",
      "line 7: config-reload is built in, and left out",
      "line 7: the property log_file is called file here",
      "line 7: the property rotate_daily has no effect, and is left out",
      "line 7: the property health_endpoint is called path here",
      "line 7: the property ready_endpoint has no effect, and is left out",
    ]);
    expect(html).toContain('<dt>title</dt> <dd itemprop="title">R &amp; D</dd>');
    expect(html).toContain('<dd itemprop="file">../logs/access.log</dd>');
    expect(html).toContain('<dd itemprop="format">common</dd>');
    process.chdir("/"); // from where no location of the page leads anywhere
    const { hosts = {}, listing, bindPort } = await loadConfig(location);
    expect({ listing, bindPort }).toEqual({ listing: false, bindPort: 3000 });
    const { root, plugins = [] } = hosts["localhost"] ?? {};
    expect(root).toBe(join(directory, "site"));
    expect(plugins.map(({ name }) => name)).toEqual(["access-log", "health-check", "file-handler"]);
  });

  it("writes the users file anew beside the old one, which it hides, and lets in who could sign in there", async () => {
    const directory = await place();
    const authfile = "file://./users.html";
    const guarded = plugin("basic_auth", { authfile }) + plugin("authorization", { authfile }) + files;
    const { html, problems, location } = await imported(directory, page(list(guarded)));
    expect(problems).toEqual([]);
    expect(html).toContain('<dd itemprop="authfile">../users.imported.html</dd>');
    expect(html).toContain('<dd itemprop="protectedFiles">../users.html</dd>');
    const mode = (await stat("users.imported.html")).mode & 0o777;
    expect(mode).toBe(process.platform === "win32" ? 0o666 : 0o600);
    const server = createFileServer(await loadConfig(location));
    onTestFinished(() => server.close());
    const statusOf = async (headers: HeadersInit): Promise<number> => {
      const reply = await server.fetch(new Request("http://localhost/a.txt", { headers }));
      await reply.body?.cancel();
      return reply.status;
    };
    expect(await statusOf({})).toBe(401);
    expect(await statusOf({ authorization: `Basic ${btoa("mia:kiwi")}` })).toBe(200);

    const again = await imported(directory, page(list(guarded)));
    expect(again.problems).toContainEqual(expect.stringContaining("file already exists"));
    const alone = await importConfig("users.html");
    expect(alone.html.replaceAll("users.html", join(directory, "users.html"))).toBe(
      await readFile("users.imported.html", "utf8"),
    );
  });

  it.each([
    ["a plugin that is not here", plugin("oauth2") + files, /^the new page:\d+: library is "file:.*oauth2\.so"/],
    ["a plugin in other words", `<p itemprop="plugin">file-handler</p>`, /plugin: expected an item of a type/],
    ["a property that is not here", plugin("file_handler", { root_dir: "./x" }), /there is no "root_dir"/],
  ])("keeps the new page from loading with %s", async (_, plugins, problem) => {
    const directory = await place();
    const { problems, location } = await imported(directory, page(`<tr><td>${plugins}</td></tr>`));
    expect(problems).toContainEqual(expect.stringMatching(problem));
    await expect(loadConfig(location)).rejects.toThrow(ConfigError);
  });

  it("reads a host that stands alone, and reports a plugin that stands in no host", async () => {
    const directory = await place();
    const pipeline = `<ol itemscope itemtype="${schema}/Pipeline">${files}</ol>`;
    const { html, problems } = await imported(directory, page("", "id=main-host") + pipeline);
    expect(html).toContain('<dd itemprop="hostname">localhost</dd>');
    const strays = problems.filter((each) => each.endsWith("belongs to no host, and is not read"));
    expect(strays).toHaveLength(3);
  });

  it("keeps a list without plugins, which says something of a directory", async () => {
    const directory = await place();
    const empty = plugin("directory", { directory: "file://./site/docs/" }, "<ol></ol>");
    const { html, problems } = await imported(directory, page(list(empty + files)));
    expect(html).toContain('<dd itemprop="directory">/docs</dd>');
    expect(problems).toEqual([expect.stringContaining("directory: has an empty list")]);
  });

  it("says what a page has to have, and where it is", async () => {
    const directory = await place();
    await expect(imported(directory, "<p>Hello")).rejects.toThrow("expected a configuration page or a users file");
    await expect(importConfig("missing.html")).rejects.toThrow(ConfigError);
    await expect(importConfig("https://example.org/")).rejects.toThrow("expected a path or a file:// location");
  });
});

describe("a page of rusty-beam that is started as it is", () => {
  it("stops at the start and names the command", async () => {
    const directory = await place();
    await writeFile(join(directory, "config/old.html"), page(list(files)));
    const remedy = "the page is written for rusty-beam: filement import-config config/old.html > new.html";
    await expect(loadConfig("config/old.html")).rejects.toThrow(remedy);
  });

  it("loads where it says nothing but what the interface specification shows", async () => {
    const directory = await place();
    const text = page(`<tr><td><ol>${plugin("rate_limit", { requests_per_second: "5" })}${files}</ol></td></tr>`);
    await writeFile(join(directory, "old.html"), text.replace('"port"', '"bindPort"').replace("hostName", "hostname"));
    const { hosts = {} } = await loadConfig("old.html");
    expect(hosts["localhost"]?.plugins?.map(({ name }) => name)).toEqual(["rate-limit", "file-handler"]);
  });
});
