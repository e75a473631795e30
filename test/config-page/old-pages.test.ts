import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConfigError, type FileServerConfig } from "../../src/config.ts";
import { loadConfig } from "../../src/config-page/load-config.ts";
import { createFileServer } from "../../src/file-server.ts";
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

const oldNames = "the property hostName is called hostname here";
const fromWorkingDirectory =
  "hostRoot starts at the working directory, as it did in rusty-beam; seen from this page it is ../site";

interface Loaded {
  readonly config: FileServerConfig;
  /** Without the name of the page, and without what every page in these shapes is told. */
  readonly warnings: readonly string[];
  ask(path: string, headers?: HeadersInit): Promise<number>;
}

async function load({ directory }: Place, text: string): Promise<Loaded> {
  const location = join(directory, "config/page.html");
  await writeFile(location, text);
  const config = await loadConfig(location);
  const warnings: string[] = [];
  const silent = (): void => {};
  const logger = { debug: silent, info: silent, error: silent, warn: (_: object, each: string) => warnings.push(each) };
  const files = createFileServer({ ...config, logger });
  onTestFinished(() => files.close());
  await files.ready();
  const ask = async (path: string, headers: HeadersInit = {}): Promise<number> => {
    const { status, body } = await files.fetch(new Request(`http://localhost${path}`, { headers }));
    await body?.cancel();
    return status;
  };
  return { config, ask, warnings: warnings.map((each) => each.replace(/^.*page\.html:\d+: /, "")) };
}

async function problemsOf({ directory }: Place, text: string): Promise<readonly string[]> {
  const location = join(directory, "config/page.html");
  await writeFile(location, text);
  const error: unknown = await loadConfig(location).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).problems.map((each) => each.replace(/^.*page\.html:/, "").replaceAll(directory, "DIR"));
}

describe("a page of rusty-beam", () => {
  it.each(shapes)("loads with %s", async (_, text, expected) => {
    const at = await place();
    const { config, warnings } = await load(at, text(at));
    const roots = Object.values(config.hosts ?? {}).flatMap(({ root }) => root ?? []);
    for (const root of roots) expect(root).toBe(join(at.directory, "site"));
    const usual = [
      /^hostRoot starts at/,
      /^server_?[rR]oot starts at/,
      /^the property hostName/,
      /^directories without/,
    ];
    const own = warnings.filter(
      (each) =>
        !each.startsWith("basicAuth: ") && !usual.some((pattern) => pattern.test(each)) && !each.includes("can change"),
    );
    expect(own.sort()).toEqual([...expected].sort());
  });

  it("is told of what each page there has", async () => {
    const at = await place();
    const { warnings } = await load(at, linked(at.root));
    expect(warnings).toEqual(expect.arrayContaining([oldNames, fromWorkingDirectory]));
    expect(warnings.filter((each) => each === oldNames)).toHaveLength(1);
  });

  it("keeps its plugins in their places", async () => {
    const at = await place();
    const { config } = await load(
      at,
      linked(at.root, list(so("health_check", { ready_endpoint: "/r" }), so("rate_limit"), ...files)),
    );
    const names = config.hosts?.["localhost"]?.plugins?.map(({ name }) => name);
    expect(names).toEqual(["configuration-page", "health-check", "health-check", "rate-limit", "file-handler"]);
  });

  it("warns where a location leads somewhere from the page, and from the working directory", async () => {
    const at = await place();
    await mkdir(join(at.directory, "config/site"));
    const { warnings } = await load(at, linked(at.root));
    expect(warnings).toContain(
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
    const { ask, warnings } = await load(at, linked(at.root, list(...both, ...files)));
    expect([await ask("/"), await ask("/", mia)]).toEqual([401, 200]);
    expect(warnings.join()).toContain("anonymous clients are refused");
  });

  it("may have rules in another file", async () => {
    const at = await place();
    const both = [so("basic_auth", { authfile: at.usersFile }), so("authorization", { authfile: at.rulesFile })];
    const { ask } = await load(at, linked(at.root, list(...both, ...files)));
    expect([await ask("/"), await ask("/", mia)]).toEqual([401, 200]);
  });

  it("are not needed where there are only rules", async () => {
    const at = await place();
    const { ask } = await load(at, linked(at.root, list(so("authorization", { authfile: at.rulesFile }), ...files)));
    expect([await ask("/"), await ask("/", { "x-method": "GET" })]).toEqual([200, 200]);
  });

  it("are needed below a directory only, where they stand in one", async () => {
    const at = await place();
    const inside = `<ol>${so("basic_auth", { authfile: at.usersFile })}${so("authorization", { authfile: at.rulesFile })}</ol>`;
    const admin = plugin("file://./plugins/libdirectory.so", { directory: "/admin" }, { inside });
    const { ask } = await load(at, linked(at.root, plainList(admin, ...files)));
    expect([await ask("/"), await ask("/admin/a.txt"), await ask("/admin/a.txt", mia)]).toEqual([200, 401, 200]);
  });
});
