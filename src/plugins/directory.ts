import { isCanonicalPath, withoutSlash } from "../http/request-target.ts";
import { checkOptions } from "../options/check-config.ts";
import { aPlugin } from "../options/option-types.ts";
import { listOf, type OptionsSchema, optionsOf, text } from "../options/schema.ts";
import { isWithin } from "../server/pipeline.ts";
import type { Plugin } from "../server/plugin.ts";

/** Options for {@link directory}. */
export interface DirectoryOptions {
  /**
   * The path of the directory, decoded: `"/api"` stands for `/api`, `/api/` and everything below, not for `/apiary`.
   * `"/"` is the whole host.
   */
  readonly directory: string;
  /** The plugins for that directory. @default those that follow in the list, up to the next directory plugin */
  readonly plugins?: readonly Plugin[] | undefined;
}

export const directoryOptions: OptionsSchema = optionsOf(
  {
    directory: text("a path that begins with /", isCanonicalPath, "a path that begins with /, decoded"),
    plugins: listOf(aPlugin, "a list of plugins"),
  },
  "an object with a directory",
  ["directory"],
);

/**
 * Confines plugins to a directory: they are asked and told only of requests below it. Throws a `ConfigError` for a path
 * that no request can have.
 *
 * @example
 * createFileServer({
 *   root: "site",
 *   plugins: [
 *     directory({ directory: "/api", plugins: [rateLimit({ requestsPerSecond: 2 })] }), // nested: just these
 *     directory({ directory: "/members" }), // flat: all that follow, up to the next directory
 *     basicAuth({ authfile: "users.html" }),
 *   ],
 * });
 */
export function directory(options: DirectoryOptions): Plugin {
  checkOptions("directory", directoryOptions, options);
  const { plugins } = options;
  const prefix = withoutSlash(options.directory);
  return {
    name: "directory",
    scope: { covers: (path) => isWithin(path, prefix), directory: prefix, plugins },
  };
}
