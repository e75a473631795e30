import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import * as html from "../src/html/page.ts";
import * as filement from "../src/index.ts";
import * as mcp from "../src/plugins/mcp.ts";
import * as redis from "../src/redis/index.ts";
import { projectRoot } from "./helpers/source-files.ts";

/** What a program can import and use; a name taken away breaks its users. */
const values = `
  ConfigError HttpError StorageError accessLog basicAuth bodyBytes bodyText cors createFileServer directory
  diskStorage emptyReply errorPages eventStream fileHandler fromMiddleware guard healthCheck history jsonReply
  loadConfig memoryStorage metrics permissions rateLimit redirects securityHeaders webSocket withBody`
  .trim()
  .split(/\s+/);

/** What a program can name in its types. */
const types = `
  Access AccessLogEntry AccessLogOptions AccessLogPlugin BasicAuthOptions BeforeWrite BucketDecision BucketStore
  ByteSpan CacheControl Change ChangeFeed ChangeKind ChangeListener ChangeOrigin ChangedByEdit CheckCredentials
  CheckedCredentials CommitCheck ConnectMiddleware ConnectedClient Content CorsOptions DirectoryOptions
  DiskStorageOptions Download Edit EditedPage EditsChange EditsWrite ElementWrite ElementsChange Encryption ErrorCode
  ErrorPagesOptions EventStreamOptions Exchange FeedEnd FeedPosition FetchInfo FileChange FileDeletion
  FileHandlerOptions FileHandling FileMethod FileServer FileServerConfig FileUpdate FileWrite FindUser FoundUser
  GuardOptions GuardedRequest HealthCheck HealthCheckOptions HeldLock HistoryOptions HostConfig HostRequest
  HttpErrorOptions InsertPosition KeyStrategy Locks Logger MetricsOptions
  MetricsRegistry MountPoint MoveChecks Next OpenFile OpenFor Outcome PageConfig PastChange PendingWrite
  PermissionRule PermissionsOptions Plugin PluginSite ProgramFiles ProgramOptions
  ProgramWriteOptions RateLimitOptions RateLimitPolicy ReadFile RedirectsOptions Reply ReplyBody
  ReplyHeaders RequestBody Right Scope SecurityHeadersOptions SelectedElements SentFile SharedFeed SharedLocks
  SignedIn Site SiteOptions Storage StorageErrorCode StorageWatcher StoredEntry
  StoredFields StoredStat TrustProxy UnnumberedChange Unwatch UpgradeOptions User UserRecord Version VersionList
  WebSocketOptions WriteOptions WriteResult WritingExchange WrittenFile`
  .trim()
  .split(/\s+/);

interface Exported {
  readonly name: string;
  readonly isType: boolean;
  /** Module that declares it, relative to `src`. */
  readonly module: string;
}

/** The names in `export { a, type B } from "./x.ts"` and `export type { C } from "./y.ts"`. */
function exportedBy(source: string): Exported[] {
  const statements = source.matchAll(/^export (type )?\{([^}]*)\} from "\.\/([^"]+)";$/gm);
  return [...statements].flatMap(([, allTypes, names = "", module = ""]) =>
    names
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "")
      .map((name) => ({ name: name.replace(/^type /, ""), isType: Boolean(allTypes) || /^type /.test(name), module })),
  );
}

const index = readFileSync(join(projectRoot, "src/index.ts"), "utf8");
const exported = exportedBy(index);

describe("the package's exports", () => {
  it("are exactly these functions and classes", () => {
    expect(Object.keys(filement).sort()).toEqual(values);
  });

  it("are exactly these types", () => {
    const found = exported.filter(({ isType }) => isType).map(({ name }) => name);
    expect(found.sort()).toEqual(types);
  });

  it("are written by hand, one statement for each module, and nothing else is in the file", () => {
    const modules = exported.map(({ module }) => module);
    const rest = index.replace(/^export (?:type )?\{[^}]*\} from "[^"]+";$/gm, "").trim();
    expect(rest).toBe("");
    expect(index.match(/^export /gm)).toHaveLength(new Set(modules).size);
  });

  it("are the same in the compiled package", async () => {
    const compiled = await import(join(projectRoot, "dist/index.js"));
    const declared = exportedBy(readFileSync(join(projectRoot, "dist/index.d.ts"), "utf8"));
    expect(Object.keys(compiled).sort()).toEqual(values);
    expect(declared.map(({ name }) => name).sort()).toEqual([...values, ...types].sort());
  });

  it("has the storage on S3 in a module of its own, which loads without the package that it is for", async () => {
    const { exports } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"));
    expect(Object.keys(await import(join(projectRoot, exports["./s3"].default)))).toEqual(["s3Storage"]);
    const declared = readFileSync(join(projectRoot, exports["./s3"].types), "utf8");
    expect(
      [...declared.matchAll(/^export (?:declare )?(?:function|interface) (\w+)/gm)].map(([, name]) => name),
    ).toEqual(["S3StorageOptions", "s3Storage"]);
    expect(readFileSync(join(projectRoot, exports["./s3"].default), "utf8")).not.toMatch(/^import[^;]*aws-sdk/m);
  });

  it.each([
    ["server/exchange", "Exchange", ["defer"], ["end"]],
    ["server/change-feed", "ChangeFeed", ["subscribe"], ["publish", "end"]],
  ])("leave out of %s what only the server itself calls", (module, name, offered, internal) => {
    const declared = readFileSync(join(projectRoot, `dist/${module}.d.ts`), "utf8");
    const [members = ""] = declared.split(new RegExp(`declare class ${name}\\b`)).slice(1);
    const methods = [...members.matchAll(/^ {4}(\w+)\(/gm)].map(([, method]) => method);
    expect(methods).toEqual(expect.arrayContaining(offered));
    for (const method of internal) expect(methods).not.toContain(method);
  });

  it.each(exported)("explain $name to its users", ({ name, module }) => {
    const source = readFileSync(join(projectRoot, "src", module), "utf8");
    expect(isExplained(source, name)).toBe(true);
  });
});

describe("the exports of filement/html", () => {
  it("are exactly these, also in the compiled package, which loads nothing of a server", async () => {
    const { exports } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"));
    const compiled = await import(join(projectRoot, exports["./html"].default));
    expect(Object.keys(html).sort()).toEqual(["DocumentError", "parsePage", "parsePageInSlices"]);
    expect(Object.keys(compiled).sort()).toEqual(Object.keys(html).sort());
    const source = readFileSync(join(projectRoot, "src/html/page.ts"), "utf8");
    const own = [...source.matchAll(/^export (?:(?:async )?function|interface) (\w+)/gm)].map(([, name = ""]) => name);
    const names =
      "PageLimits PageOptions EditResult SourceEdit parsePage parsePageInSlices Page PageInSlices PageElement";
    expect(own).toEqual(names.split(" "));
    for (const name of own) expect(isExplained(source, name)).toBe(true);
    const entryPoints = [join(projectRoot, exports["./html"].default)];
    const options = { bundle: true, platform: "node", packages: "external", format: "esm", write: false } as const;
    const { metafile } = await build({ ...options, entryPoints, metafile: true });
    const imports = Object.values(metafile.outputs).map((output) => output.imports.map(({ path }) => path));
    expect(imports).toEqual([expect.arrayContaining(["entities/decode"])]);
    expect(imports.flat().filter((name) => /^node:(?:fs|http|net)/.test(name))).toEqual([]);
  });
});

describe("the exports of filement/redis", () => {
  const own = exportedBy(readFileSync(join(projectRoot, "src/redis/index.ts"), "utf8"));

  it("are exactly these, each explained to its users, also in the compiled package", async () => {
    const compiled = await import(join(projectRoot, "dist/redis/index.js"));
    expect(Object.keys(redis).sort()).toEqual(["RedisError", "redisBuckets", "redisFeed", "redisLocks"]);
    expect(Object.keys(compiled).sort()).toEqual(Object.keys(redis).sort());
    const types = own.flatMap(({ isType, name }) => (isType ? name : [])).sort();
    expect(types.join(" ")).toBe("RedisBucketsOptions RedisClient RedisFeedOptions RedisLocksOptions RedisSource");
    const sourceOf = (module: string): string => readFileSync(join(projectRoot, "src/redis", module), "utf8");
    expect(own.filter(({ name, module }) => !isExplained(sourceOf(module), name))).toEqual([]);
  });
});

describe("the exports of filement/mcp", () => {
  it("are the plugin alone, explained to its users, also in the compiled package", async () => {
    const compiled = await import(join(projectRoot, "dist/plugins/mcp.js"));
    expect(Object.keys(mcp)).toEqual(["mcp"]);
    expect(Object.keys(compiled)).toEqual(["mcp"]);
    expect(isExplained(readFileSync(join(projectRoot, "src/plugins/mcp.ts"), "utf8"), "mcp")).toBe(true);
  });
});

/** Whether a comment for users stands before the declaration. */
function isExplained(source: string, name: string): boolean {
  return new RegExp(`\\*/\\nexport (?:async )?(?:function|class|interface|type|const) ${name}\\b`).test(source);
}
