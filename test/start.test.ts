import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runNodeToEnd } from "./helpers/run-node.ts";
import { filesBelow, projectRoot } from "./helpers/source-files.ts";
import { temporaryDirectory } from "./helpers/temporary-directory.ts";

/** Loaded when something needs them, since each takes as long to load as all of what serves whole files. */
const heavy = [
  ...["@node-rs/argon2", "@node-rs/bcrypt", "apache-md5", "prom-client", "ws", "yazl"],
  ...["saxes", "@redis/client"],
];

/** More than there are, so that a module may be added; what doubles their number is noticed. */
const mostModules = 250;

/** The files that a program has loaded by its end, as V8 counts them; those of Node itself are not among them. */
async function filesLoadedBy(program: string): Promise<readonly string[]> {
  const directory = await temporaryDirectory();
  const file = join(directory, "coverage");
  const args = ["--input-type=module", "--eval", program];
  const { code, stderr } = await runNodeToEnd(args, { cwd: projectRoot, env: { NODE_V8_COVERAGE: file } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [report = ""] = readdirSync(file);
  const { result } = JSON.parse(readFileSync(join(file, report), "utf8")) as { result: { url: string }[] };
  return result.flatMap(({ url }) => (url.startsWith("file:") ? [url] : []));
}

function packagesAmong(files: readonly string[]): readonly string[] {
  const names = files.flatMap((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}

describe("import 'filement'", () => {
  it("loads nothing that only some servers need, and no more modules than serving whole files takes", async () => {
    const files = await filesLoadedBy('await import("./build/index.js");');
    expect(files.length).toBeGreaterThan(50);
    expect(files.length).toBeLessThan(mostModules);
    expect(packagesAmong(files).filter((name) => heavy.includes(name))).toEqual([]);
    expect(
      files.filter((file) =>
        /\/build\/(?:config-page\/load-config|elements\/read|html\/(?:document|edit|microdata|tree-construction)\/)/.test(
          file,
        ),
      ),
    ).toEqual([]);
  });

  it("loads them put together in a few files, and leaves the parser to the first request for an element", async () => {
    const ask = (headers: string): string =>
      `const { createFileServer, memoryStorage } = await import("filement");
       const files = createFileServer({ storage: memoryStorage({ "/a.html": "<p>text</p>" }) });
       const reply = await files.fetch(new Request("http://x/a.html", { headers: ${headers} }));
       if (!reply.ok || !(await reply.text()).startsWith("<p>")) throw new Error(String(reply.status));
       await files.close();`;
    const [whole, element] = await Promise.all([
      filesLoadedBy(ask("{}")),
      filesLoadedBy(ask('{ range: "selector=p" }')),
    ]);
    expect(packagesAmong(whole).filter((name) => heavy.includes(name))).toEqual([]);
    const parser = (file: string): boolean => /\/dist\/chunks\/engine/.test(file);
    expect([whole.some(parser), element.some(parser)]).toEqual([false, true]);
    const own = whole.filter((file) => file.includes("/dist/"));
    expect(own.length).toBeGreaterThan(0);
    expect(own.length).toBeLessThan(60); // 240 modules; what parts share with each other is in small files
  });
});

describe("the declarations of the package", () => {
  it("name no type of a schema library", () => {
    const declarations = filesBelow("dist", ".d.ts");
    expect(declarations.length).toBeGreaterThan(100);
    const naming = declarations.filter((file) =>
      /from "(?:zod|valibot|@?typebox|ajv)/.test(readFileSync(join(projectRoot, "dist", file), "utf8")),
    );
    expect(naming).toEqual([]);
  });
});
