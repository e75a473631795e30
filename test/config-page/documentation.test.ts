import { readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../src/config.ts";
import { bundledNames, bundledPlugins } from "../../src/config-page/bundled-plugins.ts";
import { hostItem, loadConfig, serverItem } from "../../src/config-page/load-config.ts";
import { optionProperties } from "../../src/config-page/read-options.ts";
import { createFileServer } from "../../src/file-server.ts";
import { runNodeToEnd } from "../helpers/run-node.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { asOnPosix } from "../helpers/spelling.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const page = readFileSync(join(projectRoot, "docs/configuration.md"), "utf8");

/** Of each option of `createFileServer`: its name, and how a page writes it. */
const optionRows = [
  ...readFileSync(join(projectRoot, "docs/options.md"), "utf8").matchAll(/^\| `(\w+)` \| \w+ \| ([^|]+) \|/gm),
].map(([, name, inPage]) => [name, inPage] as const);

/** What stands below a heading, up to the next one of any level. */
function section(heading: string): string {
  const [, below = ""] = page.split(new RegExp(`^#+ ${heading}$`, "m"));
  return below.split(/^#+ /m, 1)[0] ?? "";
}

/** The blocks of a language in a section. */
function blocks(heading: string, language: string): string[] {
  return [...section(heading).matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, code = ""]) => code,
  );
}

/** The options that no reader of the page may miss, as the schema has them. */
const properties = (kind: Parameters<typeof optionProperties>[0]): string[] => [...optionProperties(kind).keys()];

describe("docs/configuration.md", () => {
  it("has the properties that are in pages only", () => {
    const listed = [...section("Server and hosts").matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(listed).toEqual(expect.arrayContaining(["host", "serverRoot", "hostname", "hostRoot"]));
    const own = [serverItem, hostItem].flatMap(properties);
    const inCode = optionRows.map(([name]) => name);
    const others = new Set([...own, "host", "hostname", "plugin"].filter((name) => !inCode.includes(name)));
    const [table = ""] = section("Server and hosts").split(/^Lists of pairs/m);
    const [, ...told] = [...table.matchAll(/^\| ([^|]+) \|/gm)].map(([, names = ""]) => names);
    expect(told.flatMap((names) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name)).sort()).toEqual(
      [...others].sort(),
    );
  });

  it("is right that all other options are properties, but for those that the page about options calls code only", () => {
    const isInPages = (name = ""): boolean =>
      [serverItem, hostItem].some((kind) => [...optionProperties(kind).values()].includes(name));
    const items = new Set(["plugins", "aliases", "hosts"]); // said by `plugin`, `hostname` and `host`
    const wrong = optionRows.filter(([name = "", inPage]) => {
      return !items.has(name) && isInPages(name) !== (inPage !== "only in code");
    });
    expect(wrong).toEqual([]);
  });

  it("says rightly that a server can say all that a host can, but for its names, its root and its plugins", () => {
    const own = properties(hostItem).filter((property) => property !== "hostRoot");
    expect(properties(serverItem)).toEqual(expect.arrayContaining(own));
  });

  it("has a row for each plugin that comes with the package", () => {
    const rows = [...section("Plugins").matchAll(/^\| ((?:`[a-z-]+`(?:, )?)+) \| [^|]*\|[^|]*\|$/gm)];
    const names = rows.flatMap(([, cell = ""]) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name));
    expect(names.sort()).toEqual([...bundledNames].sort());
  });

  it("names what a page has to give a plugin", () => {
    const required = bundledNames.flatMap((name) => bundledPlugins[name].required ?? []);
    expect(required).not.toEqual([]);
    expect(required.filter((option) => !section("Plugins").includes(`\`${option}\``))).toEqual([]);
  });

  it("begins with a page that works", async () => {
    const directory = await temporaryDirectory({
      "site/a.txt": "a",
      "config.html": blocks("Configuration", "html")[0] ?? "",
    });
    const config = await loadConfig(join(directory, "config.html"));
    expect(config.bindPort).toBe(8080);
    const files = createFileServer(config);
    const { status, headers } = await files.fetch(new Request("http://localhost/a.txt"));
    expect([status, headers.get("x-ratelimit-limit")]).toEqual([200, "10"]);
    expect((await files.fetch(new Request("http://localhost/health"))).status).toBe(200);
    await files.close();
  });

  it("reports the errors that it shows", async () => {
    const directory = await temporaryDirectory({ "config.html": blocks("Errors", "html")[0] ?? "" });
    const error = await loadConfig(join(directory, "config.html")).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    const problems = (error as ConfigError).problems.map((problem) =>
      asOnPosix(problem, directory, "/srv").replace("/srv/config.html", "config.html"),
    );
    expect(problems).toEqual(blocks("Errors", "text")[0]?.trimEnd().split("\n"));
  });
});

describe("the plugin of one's own", () => {
  /** The page and the module of the documentation, in the project of somebody who has installed Filement. */
  async function shop(): Promise<string> {
    const directory = await temporaryDirectory();
    const [configuration = ""] = blocks("Plugins of your own", "html");
    const [module = ""] = blocks("Plugins of your own", "js");
    for (const name of ["site", "plugins", "node_modules"]) await mkdir(join(directory, name));
    await symlink(projectRoot, join(directory, "node_modules/filement"), "dir");
    await writeFile(join(directory, "config.html"), configuration);
    await writeFile(join(directory, "plugins/opening-hours.mjs"), module);
    await writeFile(join(directory, "site/index.html"), "<h1>The shop</h1>");
    return directory;
  }

  it("answers on each day and at each hour as the page says", async () => {
    const visits = [
      { when: "Tuesday at nine", time: [2026, 10, 24, 9], answer: "200 " },
      { when: "Tuesday at five", time: [2026, 10, 24, 17], answer: "503 CLOSED" },
      { when: "Sunday at noon", time: [2026, 10, 22, 12], answer: "503 CLOSED" },
      { when: "Monday at noon", time: [2026, 10, 23, 12], answer: "503 CLOSED" },
    ];
    const directory = await shop();
    await writeFile(
      join(directory, "visits.mjs"),
      `import { createFileServer, loadConfig } from "filement";
      const files = createFileServer(await loadConfig("config.html"));
      const RealDate = Date;
      for (const { when, time } of ${JSON.stringify(visits)}) {
        globalThis.Date = class extends RealDate {
          constructor(...parts) {
            super(...(parts.length > 0 ? parts : time));
          }
        };
        const response = await files.fetch(new Request("http://shop.localhost/"));
        console.log(when + ": " + response.status, response.ok ? "" : (await response.json()).code);
      }
      await files.close();`,
    );
    const { stdout, stderr } = await runNodeToEnd(["visits.mjs"], { cwd: directory });
    const expected = visits.map(({ when, answer }) => `${when}: ${answer}\n`).join("");
    expect({ stdout, stderr }).toEqual({ stdout: expected, stderr: "" });
  });
});
