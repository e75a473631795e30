import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { relativeLinks } from "./helpers/markdown-links.ts";
import { run } from "./helpers/run.ts";
import { filesBelow, projectFiles, projectRoot } from "./helpers/source-files.ts";
import { temporaryDirectory } from "./helpers/temporary-directory.ts";

interface Manifest {
  readonly version: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly license: string;
  readonly scripts: Record<string, string>;
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
  readonly peerDependenciesMeta: Record<string, { readonly optional: boolean }>;
  readonly optionalDependencies?: Record<string, string>;
}

interface SourceMap {
  readonly sources: readonly string[];
}

interface LockFile {
  readonly packages: Record<string, Manifest & { readonly resolved?: string }>;
}

const json = (file: string): unknown => JSON.parse(readFileSync(join(projectRoot, file), "utf8"));
const manifest = json("package.json") as Manifest;
const lock = json("package-lock.json") as LockFile;

// What `npm run package` packs, publint and attw have looked at before the tests.
describe("the packed library", () => {
  /** A project that has the packed library installed, beside the dependencies it declares and `@types/node`. */
  let directory = "";
  let packed: string[] = [];

  beforeAll(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), "filement-consumer-")));
    const pack = await run("npm", ["pack", "--ignore-scripts", "--dry-run", "--json"], projectRoot);
    const [{ files }] = JSON.parse(pack.stdout);
    packed = files.map(({ path }: { path: string }) => path);
    const copies = packed.map((path) => cp(join(projectRoot, path), join(directory, "node_modules/filement", path)));
    await Promise.all(copies);
    for (const name of [...Object.keys(manifest.dependencies), "@types/node", "undici-types"]) {
      const link = join(directory, "node_modules", name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(join(projectRoot, "node_modules", name), link);
    }
  });

  afterAll(() => rm(directory, { recursive: true, force: true }));

  it("holds what was compiled from the source, the documents a package has, and nothing else", () => {
    const sources = filesBelow("src", "").map((file) => `src/${file}`);
    const typed = filesBelow("src", ".ts").map((file) => `dist/${file.replace(/\.ts$/, ".d.ts")}`);
    const declarations = typed.flatMap((file) => [file, `${file}.map`]);
    const modules =
      "index cli client/client client/listing client/markdown html/page plugins/mcp redis/index storage/s3/s3-storage";
    const programs = modules.split(" ").map((name) => `dist/${name}.js`);
    const chunks = filesBelow("dist/chunks", "").map((file) => `dist/chunks/${file}`);
    expect(chunks.length).toBeLessThan(2 * 100); // with their maps
    // A program that only passes on what a chunk has needs no map.
    const maps = programs.map((path) => `${path}.map`).filter((path) => existsSync(join(projectRoot, path)));
    const others = ["dist/THIRD-PARTY.txt", "dist/client/modules.d.ts", "dist/client/modules.js"];
    const pages = ["CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", "package.json"];
    const docs = filesBelow("docs", "").map((file) => `docs/${file}`);
    const examples = filesBelow("examples", "").map((file) => `examples/${file}`);
    const expected = [pages, docs, examples, sources, declarations, programs, maps, chunks, others];
    expect([...packed].sort()).toEqual(expected.flat().sort());
  });

  it("holds the sources that its source maps and declaration maps lead to", () => {
    const library = join(directory, "node_modules/filement");
    const leads = packed
      .filter((path) => path.endsWith(".map"))
      .flatMap((path) => {
        const { sources } = JSON.parse(readFileSync(join(library, path), "utf8")) as SourceMap;
        return sources.map((source) => ({ path, source: join(dirname(path), source) }));
      });
    expect(leads.length).toBeGreaterThan(500);
    expect(leads.filter(({ source }) => !source.startsWith("src/") || !packed.includes(source))).toEqual([]);
  });

  it("holds every file and folder that its pages link to", () => {
    const pages = packed.filter((path) => path.endsWith(".md"));
    const library = join(directory, "node_modules/filement");
    const links = pages.flatMap((page) => relativeLinks(page, readFileSync(join(library, page), "utf8")));
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter(({ target }) => !existsSync(join(library, target)))).toEqual([]);
  });

  it("can be imported, and required where Node can require modules", async () => {
    const imported = "const { createFileServer } = await import('filement'); console.log(typeof createFileServer)";
    expect(await run("node", ["--input-type=module", "-e", imported], directory)).toMatchObject({
      stdout: "function\n",
    });
    const required = "console.log(typeof require('filement').createFileServer)";
    expect(await run("node", ["-e", required], directory)).toMatchObject({ stdout: "function\n" });
  });

  it("has types that hold without skipLibCheck, and without any package beside its own and Node's types", async () => {
    await writeFile(
      join(directory, "program.ts"),
      `import { createServer } from "node:http";
       import { createFileServer, memoryStorage, type Plugin } from "filement";
       const plugin: Plugin = { name: "mine", handle: (exchange, next) => next() };
       const files = createFileServer({ storage: memoryStorage({ "/a": "b" }), plugins: [plugin] });
       createServer(files).on("upgrade", files.upgrade);
       const status: Promise<number> = files.fetch(new Request("http://x/a")).then((response) => response.status);
       void status;`,
    );
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--lib", "es2023"];
    const tsc = join(projectRoot, "node_modules/.bin/tsc");
    const { code, stdout } = await run(tsc, [...options, "--types", "node", "program.ts"], directory);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  });

  it("has a command that npm can put on the path", async () => {
    const cli = join(directory, "node_modules/filement/dist/cli.js");
    expect(await readFile(cli, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    const { version } = json("package.json") as { version: string };
    expect(await run("node", [cli, "--version"], directory)).toMatchObject({ code: 0, stdout: `${version}\n` });
  });
});

describe("package.json and package-lock.json", () => {
  it("have a description, keywords and a licence, as people who search for it need", () => {
    expect(manifest.description).toMatch(/^.{40,200}$/);
    expect(manifest.keywords).toEqual([...new Set(manifest.keywords)]);
    expect(manifest.keywords).toEqual(expect.arrayContaining(["file-server", "css-selector", "express"]));
    expect(manifest.license).toBe("MIT");
  });

  it('name the library to tools of before "exports", and lead from its code to the modules', () => {
    const { main, types } = json("package.json") as { readonly main: string; readonly types: string };
    expect([main, types].map((file) => existsSync(join(projectRoot, file)))).toEqual([true, true]);
    expect(readFileSync(join(projectRoot, main), "utf8")).toContain("//# sourceMappingURL=index.js.map");
    const { sources } = json(`${main}.map`) as SourceMap;
    expect(sources).toContain("../src/plugins/guard.ts");
  });

  it("come with the licences of the packages whose code the browser modules contain", () => {
    const notice = readFileSync(join(projectRoot, "dist/THIRD-PARTY.txt"), "utf8");
    for (const name of ["micromark", "micromark-extension-gfm-table", "character-entities"]) {
      expect(notice).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, "m"));
    }
    expect(notice).toContain("Copyright (c) Titus Wormer");
  });

  it("declare what the source imports, and nothing that it does not", () => {
    const imported = filesBelow("src", ".ts").flatMap((file) => {
      const source = readFileSync(join(projectRoot, "src", file), "utf8");
      const names = source.matchAll(
        /(?:^(?:import|export)[^;]*? from |\bimport\(|createRequire\(import\.meta\.url\)\(\s*)"(?!node:|[.#])((?:@[^/"]+\/)?[^/"]+)/gm,
      );
      return [...names].map(([, name]) => name);
    });
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    // What only browsers load is put into the module that they load.
    const bundled = ["micromark", "micromark-extension-gfm-table"];
    expect(Object.keys(manifest.devDependencies)).toEqual(expect.arrayContaining(bundled));
    expect([...new Set(imported)].sort()).toEqual([...declared, ...bundled].sort());
    const optional = Object.entries(manifest.peerDependenciesMeta).filter(([, { optional }]) => optional);
    expect(optional.map(([name]) => name).sort()).toEqual(Object.keys(manifest.peerDependencies).sort());
  });

  it("agree with each other, as npm ci demands", () => {
    const { dependencies, devDependencies } = lock.packages[""] ?? {};
    expect({ dependencies, devDependencies }).toEqual({
      dependencies: manifest.dependencies,
      devDependencies: manifest.devDependencies,
    });
  });

  it.each(["package-lock.json", ".ci/site/package-lock.json"])(
    "lock the packages of every platform, as npm ci demands, also those that this one has no use for: %s",
    (file) => {
      const { packages } = JSON.parse(readFileSync(join(projectRoot, file), "utf8")) as typeof lock;
      const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
        Object.keys(optionalDependencies).filter(
          (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
        ),
      );
      expect(missing).toEqual([]);
    },
  );

  it("leave it to each machine where packages come from", () => {
    const registryHost = /registry[.](?:npmjs|yarnpkg)|npmjs[.]org|npmmirror[.]|jsr[.]io/i;
    const naming = projectFiles().filter((file) => registryHost.test(readFileSync(join(projectRoot, file), "utf8")));
    expect(naming).toEqual([]);
    expect(Object.values(lock.packages).filter(({ resolved }) => resolved?.includes("://"))).toEqual([]);
  });
});

describe("npm test", () => {
  it("runs no test where a check fails, and shows what all failed ones printed", async () => {
    const directory = await temporaryDirectory();
    expect(manifest.scripts["test"]).toBe("npm run -s checks && npm run -s unit --");
    const scripts = {
      types: "node -e \"console.log('no such name'); process.exit(2)\"",
      lint: "node -e \"console.log('all is well')\"",
      package: "node -e \"console.error('no such file'); process.exit(1)\"",
    };
    await writeFile(join(directory, "package.json"), JSON.stringify({ scripts }));
    await cp(join(projectRoot, ".ci/checks.mjs"), join(directory, ".ci/checks.mjs"));
    const [, ...args] = manifest.scripts["checks"]?.split(" ") ?? [];
    const { code, stdout, stderr } = await run("node", args, directory);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("npm run types failed:\nno such name\n");
    expect(stderr).toContain("npm run package failed:\nno such file\n");
    expect(stderr).not.toContain("all is well");
  });
});
