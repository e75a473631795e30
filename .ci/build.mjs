// `npm run build`: compiles `src` to `build`, module by module; then puts what a program imports together in a
// few files of `dist`. Loading 200 small modules takes Node twice as long as loading all of Express.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { build } from "rolldown";
import { thirdPartyNotice } from "./third-party-notice.mjs";

const run = promisify(execFile);
const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));

/** @param {string} project */
const compile = (project) => run(process.execPath, [join(typescript, "bin/tsc"), "-p", project]);

console.error("Compiling the library.");
await Promise.all(["dist", "build"].map((directory) => rm(directory, { recursive: true, force: true })));
// What `#browser-modules` gives, for the compiler; made below.
await mkdir("dist/client", { recursive: true });
await writeFile("dist/client/modules.d.ts", "export const modules: Readonly<Record<string, string>>;\n");
try {
  await Promise.all(["src", "src/client"].map(compile));
} catch (error) {
  console.error(/** @type {{ stdout?: string }} */ (error).stdout ?? error);
  process.exit(1);
}

/**
 * The compiler wraps the argument of an import in a helper for relative names, but webpack and Turbopack look for their
 * comments directly behind the bracket. The import with such comments takes absolute URLs and needs no helper.
 *
 * @param {string} code
 */
const withPlainImport = (code) => code.replace(/import\(__rewriteRelativeImportExtension\((\/\*.*)\)\)/, "import($1)");

/** @param {string} path */
const isDeclaration = async (path) => /\.d\.ts(?:\.map)?$/.test(path) || (await stat(path)).isDirectory();
await cp("build", "dist", { recursive: true, filter: isDeclaration });
await build({
  // What `package.json` exports, and the command.
  input: Object.fromEntries(
    ["index", "cli", "html/page", "plugins/mcp", "redis/index", "storage/s3/s3-storage"].map((name) => [
      name,
      `build/${name}.js`,
    ]),
  ),
  // Chunks that take nothing from one another import one another all the same, of which other bundlers warn.
  plugins: [
    {
      name: "maps-of-the-compiler", // so that those of the files lead to `src`, which is in the package
      load: {
        filter: { id: /[\\/]build[\\/].*\.js$/ },
        async handler(id) {
          const [code, map] = await Promise.all([id, `${id}.map`].map((path) => readFile(path, "utf8")));
          return { code: withPlainImport(code), map };
        },
      },
    },
    {
      name: "no-bare-imports",
      generateBundle(_options, files) {
        for (const file of Object.values(files)) {
          if (file.type === "chunk") file.code = file.code.replace(/^import "\.[^"]*";$/gm, "");
        }
      },
    },
  ],
  external: /^[^./]/, // packages stay packages, and `#` leads to the text of the browser modules
  output: {
    dir: "dist",
    sourcemap: true, // a stack trace leads to the module, with node --enable-source-maps
    keepNames: true, // those of classes are seen in messages
    chunkFileNames: ({ isDynamicEntry }) => (isDynamicEntry ? "chunks/[name].js" : "chunks/shared-[hash].js"),
  },
});
// The thread of a disk: no more than it needs, beside the code that starts it.
await build({
  input: "build/storage/disk/write-thread.js",
  platform: "node",
  output: { file: "dist/chunks/write-thread.js" },
});
await build({ input: "src/client/client.ts", output: { file: "dist/client/client.js", minify: true } });
// What the page of a directory loads, and the worker that it has for Markdown.
const { output } = await build({
  input: ["listing", "markdown"].map((name) => `src/client/listing/${name}.ts`),
  resolve: { conditionNames: ["worker", "import"] }, // a worker has no document by which to decode references
  output: {
    dir: "dist/client",
    minify: true,
    postBanner: ({ name }) => (name === "markdown" ? "/*! micromark, (c) Titus Wormer, MIT License */" : ""),
  },
});
// The text of all three, for the server that answers with them: a bundler takes it along.
const names = ["client.js", "listing.js", "markdown.js"];
const modules = Object.fromEntries(names.map((name) => [name, readFileSync(`dist/client/${name}`, "utf8")]));
await writeFile("dist/client/modules.js", `export const modules = ${JSON.stringify(modules)};\n`);
await writeFile(
  "dist/THIRD-PARTY.txt",
  thirdPartyNotice(output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []))),
);
