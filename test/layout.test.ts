import { readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { filesBelow, projectFiles, projectRoot } from "./helpers/source-files.ts";

/** Source files without a test of their own name, each for a reason. */
const testedElsewhere: Readonly<Record<string, string>> = {
  "server/file-history": "interfaces",
  config: "types, and an error; check-config.test.ts",
  "config-page/load-when-asked": "config-page/documentation.test.ts",
  index: "exports.test.ts",
  "server/html-page": "error-reply.test.ts, end-to-end/history-pages.test.ts",
  "server/incoming-request": "types",
  "server/inspection": "types",
  "runtime/entries": "file-server.test.ts, end-to-end/mounts.test.ts, end-to-end/sockets.test.ts",
  "options/option-types": "check-config.test.ts",
  "hosts/inner-exchange": "plugins/mcp.test.ts, hosts/program-files.test.ts",
  "plugins/live/change-message": "web-socket.test.ts, event-stream.test.ts",
  "plugins/live/feed-query": "web-socket.test.ts, event-stream.test.ts",
  "plugins/live/live-client": "web-socket.test.ts, event-stream.test.ts",
  "plugins/live/live-clients": "web-socket.test.ts, event-stream.test.ts",
  "server/plugin": "an interface",
  "server/site": "interfaces",
  "server/version": "packaging.test.ts",
  "client/listing/entries": "its siblings",
  "client/listing/style": "a style sheet",
  "html/edit/apply-edits": "elements/edit-list.test.ts",
  "html/edit/batch": "elements/edit-list.test.ts, elements/edit-lists-chromium.test.ts",
  "html/edit/edits": "types",
  "html/edit/placement": "elements/edit-list.test.ts, elements/append.test.ts, elements/delete.test.ts",
  "html/edit/operations": "elements/edit-list.test.ts",
  "html/tokenizer/tokens": "interfaces; tokenizer.test.ts",
  "html/document/html-names": "selector/attribute-selector.test.ts, tree-construction/foreign-content.test.ts",
  "html/document/seams": "reparse-html.test.ts, join-part.test.ts",
  "html/document/tag-rules": "edit/well-formed.test.ts, elements/append.test.ts",
  "html/document/tree-walk": "document/serialise.test.ts",
  "html/microdata/microdata-page": "html/microdata.test.ts",
  "html/selector/an-plus-b": "selector-parser.test.ts",
  "html/selector/name-selectors": "selector-parser.test.ts",
  "html/selector/pseudo-elements": "selector-parser.test.ts",
  "html/selector/selector-names": "selector-parser.test.ts",
  "html/selector/selector-reader": "selector-parser.test.ts",
  "html/selector/selector-tokens": "selector-parser.test.ts",
  "html/selector/sorted": "element-index.test.ts, form-controls.test.ts",
  "html/tree-construction/open-elements": "tree-builder.test.ts",
  "html/tree-construction/tags": "tree-builder.test.ts",
  "html/tree-construction/parser-state": "interfaces",
  "html/selector/match-context": "an interface",
  "html/selector/selector-tree": "types",
  "storage/disk/spare-files": "disk-thread.test.ts",
  "storage/disk/watched-directory": "watch.test.ts",
  "storage/disk/write-programs": "changes.test.ts",
  "storage/disk/write-thread": "disk-thread.test.ts",
  "files/browser-module": "client-module.test.ts, client/listing/listing.test.ts",
  "files/directory-page-style": "a style sheet",
  "elements/element-request": "interfaces",
  "elements/announced-elements": "edit-elements.test.ts, edit-rights.test.ts",
  "elements/edit-selected": "replace.test.ts, append.test.ts, delete.test.ts",
  "html/words": "selector-parser.test.ts, tree-builder.test.ts",
  "html/engine": "what it passes on has tests of its own",
  "files/file-request": "end-to-end/static-options.test.ts",
  "redis/change-stream": "feed.test.ts",
  "redis/index": "exports.test.ts",
  "storage/storage": "interfaces; storage/contract.ts is their test",
  "storage/disk/disk": "write.test.ts and its siblings",
  "storage/bytes-file": "memory-storage.test.ts and small-files.test.ts",
  "storage/disk/jobs": "changes.test.ts",
  "storage/s3/changes": "races.test.ts",
  "storage/s3/object-store": "faults.test.ts",
  "storage/s3/open-object": "reading.test.ts",
  "storage/s3/places": "s3-storage.test.ts",
  "storage/s3/store-error": "faults.test.ts",
  "storage/s3/stored-object": "races.test.ts",
  "storage/s3/upload": "uploads.test.ts",
  "storage/s3/write": "s3-storage.test.ts",
};

/** The parts of a plugin, in a folder of its name, may be tested by way of the plugin. */
const ownerOf = (module: string): string => module.replace(/^(plugins\/[^/]+)\/.*/, "$1");

describe("the layout", () => {
  it("has just the files and folders at the top that a newcomer expects", () => {
    const top = new Set(projectFiles().map((path) => path.split("/", 1)[0]));
    const expected = `
      .ci .editorconfig .gitattributes .github .gitignore CHANGELOG.md CONTRIBUTING.md LICENSE README.md
      SECURITY.md biome.json docs examples package-lock.json package.json src test tsconfig.json`;
    expect([...top].sort()).toEqual(expected.trim().split(/\s+/).sort());
  });

  it("mirrors every source module in a test of its name", () => {
    const tests = new Set(filesBelow("test", ".test.ts"));
    const missing = filesBelow("src", ".ts")
      .map((file) => file.replace(/\.ts$/, ""))
      .filter(
        (module) =>
          !(module in testedElsewhere) && ![module, ownerOf(module)].some((name) => tests.has(`${name}.test.ts`)),
      );
    expect(missing).toEqual([]);
  });

  it("ships the compiled library with its source maps, documents and examples", () => {
    const { files } = JSON.parse(readFileSync(`${projectRoot}/package.json`, "utf8"));
    expect(files).toEqual(["dist", "src", "docs", "examples", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]);
    expect(filesBelow("dist", ".map")).toEqual(expect.arrayContaining(["cli.js.map", "index.js.map"]));
    expect(filesBelow("dist/client", ".js.map")).toEqual([]); // browsers would not ask for them
    expect(statSync(`${projectRoot}/dist/cli.js`).isFile()).toBe(true);
  });
});
