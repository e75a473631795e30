// `npm run build`: compiles `src` to `build`, module by module; then puts what a program imports together in a
// few files of `dist`. Loading 200 small modules takes Node twice as long as loading all of Express.
import { execFile } from "node:child_process";
import { cp, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { build } from "rolldown";

const run = promisify(execFile);
const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));

/** @param {string} project */
const compile = (project) => run(process.execPath, [join(typescript, "bin/tsc"), "-p", project]);

console.error("Compiling the library.");
await Promise.all(["dist", "build"].map((directory) => rm(directory, { recursive: true, force: true })));
try {
  await Promise.all(["src", "src/client"].map(compile));
} catch (error) {
  console.error(/** @type {{ stdout?: string }} */ (error).stdout ?? error);
  process.exit(1);
}

/** @param {string} path */
const isDeclaration = async (path) => path.endsWith(".d.ts") || (await stat(path)).isDirectory();
await cp("build", "dist", { recursive: true, filter: isDeclaration });
await build({
  // What `package.json` exports, and the command.
  input: Object.fromEntries(
    ["index", "cli", "redis/index", "storage/s3/s3-storage"].map((name) => [name, `build/${name}.js`]),
  ),
  external: /^[^./]/, // packages stay packages
  output: {
    dir: "dist",
    keepNames: true, // those of classes are seen in messages
    // One folder down, as modules are in `src`: from there, the path to the browser module is the same.
    chunkFileNames: ({ isDynamicEntry }) => (isDynamicEntry ? "chunks/[name].js" : "chunks/shared-[hash].js"),
  },
});
await build({ input: "src/client/client.ts", output: { file: "dist/client/client.js", minify: true } });
// What the page of a directory loads, and the worker that it has for Markdown.
await build({
  input: ["listing", "markdown"].map((name) => `src/client/listing/${name}.ts`),
  resolve: { conditionNames: ["worker", "import"] }, // a worker has no document by which to decode references
  output: {
    dir: "dist/client",
    minify: true,
    postBanner: ({ name }) => (name === "markdown" ? "/*! micromark, (c) Titus Wormer, MIT License */" : ""),
  },
});
