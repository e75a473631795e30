import type { PageConfig } from "../config.ts";

/**
 * Reads the configuration of a server from an HTML page with microdata: one item of a type that ends in
 * `/ServerConfig`, its `host` items of `/HostConfig`, their `plugin` items of `/Plugin`. `location` is a path or a
 * `file://` URL; locations in the page are relative to it. What comes back is what {@link createFileServer} takes. Its
 * `protectedFiles` hide the page, the modules that it names and what these import: no client can put code there.
 *
 * Throws one `ConfigError` that names everything wrong, with file and line: unknown properties and parameters, values
 * out of range, plugins in an order that cannot work, libraries that do not load.
 *
 * @example
 * const files = createFileServer(await loadConfig("/etc/filement/config.html"));
 */
export async function loadConfig(location: string | URL): Promise<PageConfig> {
  return (await import("./load-config.ts")).loadConfig(location); // with the HTML parser
}
