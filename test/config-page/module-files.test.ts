import { symlink } from "node:fs/promises";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { moduleFiles } from "../../src/config-page/module-files.ts";
import { asOnPosix } from "../helpers/spelling.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

/** The places below a directory that decide about the code of its `plugin.mjs`. */
async function placesIn(directory: string): Promise<string[]> {
  const files = await moduleFiles(join(directory, "plugin.mjs"));
  return files.map((file) => asOnPosix(relative(directory, file), directory)).filter((file) => !file.startsWith(".."));
}

describe("the files of a module", () => {
  it("are the module, and what decides about packages", async () => {
    const directory = await temporaryDirectory({ "plugin.mjs": 'import { readFile } from "node:fs/promises";' });
    expect(await placesIn(directory)).toEqual(["plugin.mjs", "package.json", "node_modules"]);
  });

  it.each([
    ["import a from './lib/a.mjs'"],
    ['import "./lib/a.mjs"'],
    ["export * from './lib/a.mjs'"],
    ["const a = await import(`./lib/a.mjs`)"],
    ["import config from './lib/a.mjs' with { type: 'json' }"],
    ['const worker = new Worker(new URL("./lib/a.mjs", import.meta.url))'],
  ])("are those that it names: %s", async (source) => {
    const directory = await temporaryDirectory({ "plugin.mjs": source, "lib/a.mjs": "import '../b.mjs'", "b.mjs": "" });
    expect(await placesIn(directory)).toEqual(expect.arrayContaining(["plugin.mjs", "lib/a.mjs", "b.mjs"]));
  });

  it("are all that a `require` could find, also where they do not exist yet", async () => {
    const directory = await temporaryDirectory({
      "plugin.mjs": 'require("./a"); require("./dir")',
      "dir/index.js": "",
    });
    const expected = ["a", "a.js", "a.json", "a.node", "dir/index.js", "dir/package.json"];
    expect(await placesIn(directory)).toEqual(expect.arrayContaining(expected));
  });

  it("are every place from which a package could come, also where there is none yet", async () => {
    const directory = await temporaryDirectory({
      "plugin.mjs": "import './lib/a.mjs'",
      "lib/a.mjs": 'import x from "left-pad"',
    });
    expect(await placesIn(directory)).toEqual(expect.arrayContaining(["node_modules", "lib/node_modules"]));
  });

  it("are those beside the file that a link leads to", async () => {
    const directory = await temporaryDirectory({ "real/plugin.mjs": "import './a.mjs'", "real/a.mjs": "" });
    await symlink("real/plugin.mjs", join(directory, "plugin.mjs"));
    const places = await placesIn(directory);
    expect(places).toEqual(expect.arrayContaining(["plugin.mjs", "real/plugin.mjs", "real/a.mjs"]));
  });

  it("are no directories, which may be the root of a host, and no module is read twice", async () => {
    const source = "const root = '../site/x/..'; import './plugin.mjs'; import './site'";
    const directory = await temporaryDirectory({ "plugin.mjs": source, "site/index.html": "" });
    expect(await placesIn(directory)).not.toContain("site");
  });

  it("are the module itself where it does not exist", async () => {
    expect(await placesIn(await temporaryDirectory())).toEqual(["plugin.mjs"]);
  });
});
