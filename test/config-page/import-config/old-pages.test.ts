import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConfigError, type FileServerConfig } from "../../../src/config.ts";
import { importConfig } from "../../../src/config-page/import-config.ts";
import { loadConfig } from "../../../src/config-page/load-config.ts";
import { createFileServer } from "../../../src/file-server.ts";
import {
  files,
  linked,
  list,
  type Place,
  place,
  plainList,
  plugin,
  row,
  rules,
  server,
  shapes,
  so,
  theirs,
  users,
} from "./old-pages.ts";

const notListed = /^directories without index.html are not listed/;
const oldNames = "the property hostName is called hostname here";
const fromWorkingDirectory =
  "hostRoot starts at the working directory, as it did in rusty-beam; seen from this page it is ../site";

interface Loaded {
  readonly config: FileServerConfig;
  /** The comments of the new page. */
  readonly notes: readonly string[];
  ask(path: string, headers?: HeadersInit): Promise<number>;
}

async function imported({ directory }: Place, text: string) {
  const location = join(directory, "config/page.html");
  await writeFile(location, text);
  return importConfig(location);
}

/** Imports a page, and serves what the new one says. */
async function load(at: Place, text: string): Promise<Loaded> {
  const { html, problems } = await imported(at, text);
  expect(problems).toEqual([]);
  await writeFile(join(at.directory, "config/new.html"), html);
  const here = process.cwd();
  process.chdir("/"); // from where no location of the page leads anywhere
  const config = await loadConfig(join(at.directory, "config/new.html"));
  process.chdir(here);
  const silent = (): void => {};
  const logger = { debug: silent, info: silent, error: silent, warn: silent };
  const files = createFileServer({ ...config, logger });
  onTestFinished(() => files.close());
  await files.ready();
  const ask = async (path: string, headers: HeadersInit = {}): Promise<number> => {
    const { status, body } = await files.fetch(new Request(`http://localhost${path}`, { headers }));
    await body?.cancel();
    return status;
  };
  const notes = [...html.matchAll(/<!-- line \d+: (.*) -->/g)].map(([, note = ""]) => note.replaceAll("- -", "--"));
  return { config, ask, notes: [...new Set(notes)] };
}

async function problemsOf(at: Place, text: string): Promise<readonly string[]> {
  const { problems } = await imported(at, text);
  return problems.map((each) => each.replace(/^.*page\.html:/, "").replaceAll(at.directory, "DIR"));
}

describe("a page of rusty-beam", () => {
  it.each(shapes)("is put into our words with %s", async (_, text, expected) => {
    const at = await place();
    const { config, notes } = await load(at, text(at));
    const roots = Object.values(config.hosts ?? {}).flatMap(({ root }) => root ?? []);
    for (const root of roots) expect(root).toBe(join(at.directory, "site"));
    const usual = [/^hostRoot starts at/, /^server_?[rR]oot starts at/, /^the property hostName/, notListed];
    const own = notes.filter((each) => !usual.some((pattern) => pattern.test(each)));
    expect(own.sort()).toEqual([...expected].sort());
  });

  it("says what each page there has, and lists no directories", async () => {
    const at = await place();
    const { notes, ask } = await load(at, linked(at.root));
    expect(notes).toEqual([expect.stringMatching(notListed), expect.anything(), oldNames, fromWorkingDirectory]);
    expect(await ask("/admin/")).toBe(403);
  });

  it("stops at the start where it is started as it is, and names the command", async () => {
    const at = await place();
    const location = join(at.directory, "config/page.html");
    await writeFile(location, linked(at.root));
    const stopped = loadConfig(location);
    await expect(stopped).rejects.toThrow(
      `${location}: the page is written for rusty-beam: filement import-config ${location} > new.html`,
    );
    await expect(stopped).rejects.toThrow(ConfigError);
  });

  it("starts as it is where it says nothing but what the interface specification shows", async () => {
    const at = await place();
    const location = join(at.directory, "config/page.html");
    const limit = `<li itemprop="plugin" itemscope itemtype="${theirs}/Plugin"><span itemprop="library">file://./plugins/rate-limit.so</span><meta itemprop="requests_per_second" content="5"></li>`;
    await writeFile(location, linked(join(at.directory, "site"), plainList(limit, ...files)));
    const { hosts = {} } = await loadConfig(location);
    expect(hosts["localhost"]?.plugins?.map(({ name }) => name)).toEqual(["rate-limit", "file-handler"]);
  });

  it("keeps its plugins in their places", async () => {
    const at = await place();
    const { config } = await load(
      at,
      linked(at.root, list(so("health_check", { ready_endpoint: "/r" }), so("rate_limit"), ...files)),
    );
    const names = config.hosts?.["localhost"]?.plugins?.map(({ name }) => name);
    expect(names).toEqual(["health-check", "health-check", "rate-limit", "file-handler"]);
  });

  it("says where a location leads somewhere from the page, and from the working directory", async () => {
    const at = await place();
    await mkdir(join(at.directory, "config/site"));
    const { notes } = await load(at, linked(at.root));
    expect(notes).toContain(
      "hostRoot starts at this page; in rusty-beam it starts at the working directory, where there is one as well",
    );
  });

  it.each<readonly [string, (place: Place) => string, RegExp]>([
    [
      "oauth2",
      ({ root }) => linked(root, list(so("oauth2", { client_id: "x" }), ...files)),
      /there is no plugin oauth2 here: sign-ins by OAuth2/,
    ],
    [
      "google-oauth2",
      ({ root }) => linked(root, list(so("google_oauth2"), ...files)),
      /there is no plugin google-oauth2 here/,
    ],
    [
      "javascript-engine",
      ({ root }) => linked(root, row("plugins", "javascript-engine,file-handler")),
      /there is no plugin javascript-engine here: write a module/,
    ],
    [
      "redirect",
      ({ root }) => linked(root, list(so("redirect", { rulesfile: "a.html" }))),
      /there is no plugin redirect here: redirects has its rules/,
    ],
    [
      "compression",
      ({ root }) => linked(root, list(so("compression"))),
      /there is no plugin compression here: say compress of the host/,
    ],
    [
      "html-prettifier",
      ({ root }) => linked(root, list(so("html_prettifier"))),
      /there is no plugin html-prettifier here/,
    ],
    [
      "an error log",
      ({ root }) => linked(root, list(plugin("plugins/lib/libapache_error_log.so"))),
      /there is no plugin apache-error-log here/,
    ],
    [
      "something else",
      ({ root }) => linked(root, list(so("fortune"))),
      /library is "file:.*fortune.so": expected the name of a plugin/,
    ],
  ])("does not load with %s, and says what to do", async (_, text, expected) => {
    const at = await place();
    const problems = await problemsOf(at, text(at));
    expect(problems.filter((each) => expected.test(each))).toHaveLength(1);
  });

  it("does not load where a list in a row of a table has been moved out by the parser", async () => {
    const at = await place();
    const moved = `<tr><ol itemprop="pipeline" itemscope itemtype="${theirs}/Pipeline">${so("file_handler")}</ol></tr>`;
    expect((await problemsOf(at, linked(at.root, moved))).join()).toContain('itemprop="pipeline" belongs to no item');
  });

  it("does not load with two items for one server", async () => {
    const at = await place();
    const text = linked(at.root).replace("</body>", `${server("")}</body>`);
    expect((await problemsOf(at, text)).join()).toContain("a second item of a type that ends in /ServerConfig");
  });

  it("is as strict as any other where its words are ours", async () => {
    const at = await place();
    const text = linked(at.root, row("hostColour", "red"), list(so("rate_limit", { speed: "9" }), ...files));
    expect(await problemsOf(at, text)).toEqual([
      expect.stringContaining('there is no "hostColour"'),
      expect.stringContaining('rate-limit: there is no "speed"'),
    ]);
  });
});

describe("sign-ins of a page of rusty-beam", () => {
  const mia = { authorization: `Basic ${btoa("mia:kiwi")}` };

  it("are asked for although a rule allows something to everybody", async () => {
    const at = await place();
    await writeFile(join(at.directory, "users.html"), users + rules);
    const both = [so("basic_auth", { authfile: at.usersFile }), so("authorization", { authfile: at.usersFile })];
    const { ask } = await load(at, linked(at.root, list(...both, ...files)));
    expect([await ask("/"), await ask("/", mia)]).toEqual([401, 200]);
  });

  it("may have rules in another file", async () => {
    const at = await place();
    const both = [so("basic_auth", { authfile: at.usersFile }), so("authorization", { authfile: at.rulesFile })];
    const { ask } = await load(at, linked(at.root, list(...both, ...files)));
    expect([await ask("/"), await ask("/", mia)]).toEqual([401, 200]);
  });

  it("are asked for where there are only rules, since no client is known", async () => {
    const at = await place();
    const { ask } = await load(at, linked(at.root, list(so("authorization", { authfile: at.rulesFile }), ...files)));
    expect(await ask("/")).toBe(401);
  });

  it("stand in new users files beside the old ones, which clients cannot see", async () => {
    const at = await place();
    await writeFile(join(at.directory, "site/users.html"), users, { mode: 0o600 });
    const text = linked(at.root, list(so("basic_auth", { authfile: "file://./site/users.html" }), ...files));
    const { ask, config } = await load(at, text);
    const made = join(at.directory, "site/users.imported.html");
    expect((await stat(made)).mode & 0o777).toBe(0o600);
    expect(await readFile(join(at.directory, "site/users.html"), "utf8")).toBe(users);
    expect(config.protectedFiles).toContain(join(at.directory, "site/users.html"));
    expect([await ask("/users.html", mia), await ask("/users.imported.html", mia)]).toEqual([404, 404]);
    const before = await readFile(made, "utf8");
    expect((await imported(at, text)).problems).toEqual([expect.stringContaining("users.imported.html")]);
    expect(await readFile(made, "utf8")).toBe(before);
  });

  it("are refused where the roles of users stand in another file", async () => {
    const at = await place();
    const role = rules.replace('"username">*', '"role">editor');
    const editor = users.replaceAll("mia", "leo").replace("</tr>", '<td itemprop="role">editor</td></tr>');
    await writeFile(join(at.directory, "rules.html"), editor + role);
    const both = [so("basic_auth", { authfile: at.usersFile }), so("authorization", { authfile: at.rulesFile })];
    const { problems } = await imported(at, linked(at.root, list(...both, ...files)));
    expect(problems).toEqual([
      expect.stringMatching(/rules\.html, line \d+: the rule is about the role editor: here the users/),
    ]);
  });

  it("are needed below a directory only, where they stand in one", async () => {
    const at = await place();
    const inside = `<ol>${so("basic_auth", { authfile: at.usersFile })}${so("authorization", { authfile: at.rulesFile })}</ol>`;
    const admin = plugin("file://./plugins/libdirectory.so", { directory: "/admin" }, { inside });
    const { ask } = await load(at, linked(at.root, plainList(admin, ...files)));
    expect([await ask("/"), await ask("/admin/a.txt"), await ask("/admin/a.txt", mia)]).toEqual([200, 401, 200]);
  });
});
