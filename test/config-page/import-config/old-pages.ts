import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

/** The vocabulary of the pages. */
export const theirs = "http://rustybeam.net";

/** A row of a table with one property. */
export const row = (name: string, value: string): string =>
  `<tr><td>${name}</td><td itemprop="${name}" contenteditable="plaintext-only">${value}</td></tr>`;

const span = (name: string, value: string): string => `<span itemprop="${name}">${value}</span>`;

/** A plugin as an item of a list, or in another element. */
export function plugin(
  library: string,
  parameters: Readonly<Record<string, string>> = {},
  { type = "Plugin", element = "li", inside = "", property = "library" } = {},
): string {
  const spans = Object.entries({ ...(library !== "" && { [property]: library }), ...parameters }).map(([name, value]) =>
    span(name, value),
  );
  return `<${element} itemprop="plugin" itemscope itemtype="${theirs}/${type}">${spans.join("")}${inside}</${element}>`;
}

/** A plugin by the name that its library has there. */
export const so = (
  name: string,
  parameters: Readonly<Record<string, string>> = {},
  how: Parameters<typeof plugin>[2] = {},
): string => plugin(`file://./plugins/librusty_beam_${name}.so`, parameters, how);

/** Plugins in a list that is called a plugin itself. */
export const list = (...plugins: readonly string[]): string =>
  `<tr><td>Pipeline</td><td><ol itemprop="plugin" itemscope itemtype="${theirs}/Plugin">${plugins.join("\n")}</ol></td></tr>`;

/** Plugins in a plain list. */
export const plainList = (...plugins: readonly string[]): string =>
  `<tr><td>Plugins</td><td><ol>${plugins.join("\n")}</ol></td></tr>`;

/** The table of a server. */
export const server = (attributes: string, ...rows: readonly string[]): string =>
  `<table ${attributes} itemscope itemtype="${theirs}/ServerConfig"><tbody>\n${rows.join("\n")}\n</tbody></table>`;

/** The table of a host. */
export const host = (attributes: string, ...rows: readonly string[]): string =>
  `<table ${attributes} itemscope itemtype="${theirs}/HostConfig"><tbody>\n${rows.join("\n")}\n</tbody></table>`;

/** Title and tables. */
export const page = (...parts: readonly string[]): string =>
  `<!DOCTYPE html>\n<html><head><title>Settings</title></head><body>\n${parts.join("\n")}\n</body></html>\n`;

/** The most usual shape: a server that refers to one host, which has these rows. */
export const linked = (root: string, ...rows: readonly string[]): string =>
  page(
    server('itemref="main-host"', row("serverRoot", root), row("bindAddress", "127.0.0.1"), row("bindPort", "3000")),
    host('id="main-host" itemprop="host"', row("hostName", "localhost"), row("hostRoot", root), ...rows),
  );

export const users = `<table><tr itemscope itemtype="${theirs}/User"><td itemprop="username">mia</td><td itemprop="password">kiwi</td>
<td itemprop="encryption">plaintext</td></tr></table>`;
export const rules = `<table><tr itemscope itemtype="${theirs}/AuthorizationRule"><td itemprop="username">*</td><td itemprop="path">/*</td>
<td itemprop="method">GET</td><td itemprop="action">allow</td></tr></table>`;

/** The working directory, with a site in it, and beside it a page in a directory of its own. */
export interface Place {
  readonly directory: string;
  /** The site, seen from the working directory. */
  readonly root: string;
  readonly usersFile: string;
  readonly rulesFile: string;
  readonly log: string;
}

export async function place(): Promise<Place> {
  const directory = await realpath(await temporaryDirectory());
  const before = process.cwd();
  process.chdir(directory);
  onTestFinished(() => process.chdir(before));
  await mkdir(join(directory, "site/admin"), { recursive: true });
  await mkdir(join(directory, "config"));
  await mkdir(join(directory, "logs"));
  await writeFile(join(directory, "site/index.html"), "<h1>Hello</h1>");
  await writeFile(join(directory, "site/admin/a.txt"), "a");
  await writeFile(join(directory, "users.html"), users);
  await writeFile(join(directory, "rules.html"), rules);
  return {
    directory,
    root: "./site",
    usersFile: "file://./users.html",
    rulesFile: "file://./rules.html",
    log: "file://./logs/access.log",
  };
}

const wrapped = "the list has no library, and is no plugin itself: the plugins in it are read";
const alone = 'a host that stands alone is read as one of the server: write it in there, with itemprop="host"';
const common = "format is common, as it was in rusty-beam where nothing was said; here it would be combined";
const inRow = plugin("", {}, { element: "tr", inside: '<td itemprop="library">./plugins/file-handler.so</td>' });
export const files = [so("selector_handler"), so("file_handler")];

export type Shape = readonly [name: string, text: (place: Place) => string, warnings: readonly string[]];

/** Every shape of the pages there whose plugins are here, and what its author is told. */
export const shapes: readonly Shape[] = [
  [
    "a server that refers to its host",
    ({ root }) => linked(root, ...files.map((each) => `<tr><td>${each}</td></tr>`)),
    [],
  ],
  ["a page without plugins", ({ root }) => linked(root), []],
  ["plugins in the rows of the host", ({ root }) => linked(root, inRow), []],
  ["plugins in div elements", ({ root }) => linked(root, plainList(so("file_handler", {}, { element: "div" }))), []],
  ["a list of plugins that is called a plugin", ({ root }) => linked(root, list(...files)), [wrapped]],
  [
    "parameters in a list of their own",
    ({ root }) =>
      linked(
        root,
        list(
          plugin(
            "",
            {},
            {
              inside: `<ul><li><span itemprop="library">file://./plugins/rate-limit.so</span></li><li><span itemprop="requests_per_second">5</span></li></ul>`,
            },
          ),
          ...files,
        ),
      ),
    [wrapped],
  ],
  [
    "a host in the table of the server",
    ({ root }) =>
      page(
        `<table id="#config" itemscope itemtype="${theirs}/ServerConfig"><tbody>${row("serverRoot", root)}${row("bindPort", "3000")}</tbody>
        <tbody itemprop="host" itemscope itemtype="${theirs}/HostConfig">${row("hostName", "localhost")}${row("hostRoot", root)}</tbody>
        <tbody itemprop="host" itemscope itemtype="${theirs}/HostConfig">${row("hostName", "example.test")}${row("hostRoot", root)}</tbody></table>`,
      ),
    [],
  ],
  [
    "a host that stands alone",
    ({ root }) =>
      page(
        server("", row("serverRoot", root)),
        host("", row("hostName", "localhost"), row("hostRoot", root), plainList(...files)),
      ),
    [alone],
  ],
  [
    "a host that stands alone, with an itemprop that belongs to nothing",
    ({ root }) =>
      linked(root).replace(
        "</body>",
        `${host('itemprop="host"', row("hostName", "example.test"), row("hostRoot", root), inRow)}</body>`,
      ),
    [alone],
  ],
  [
    "a host in a host",
    ({ root }) =>
      page(
        server('itemref="h"', row("serverRoot", root)),
        `<table id="h" itemprop="host" itemscope itemtype="${theirs}/HostConfig"><tbody itemprop="host" itemscope itemtype="${theirs}/HostConfig">
        ${row("hostName", "localhost")}${row("hostRoot", root)}${list(...files)}</tbody></table>`,
      ),
    ["the host stands in another host: both are read as one", wrapped],
  ],
  [
    "items of the newer vocabulary",
    ({ root }) => linked(root, list(...files)).replaceAll(`${theirs}/`, "https://rustybeam.net/schema/"),
    [wrapped],
  ],
  [
    "types of plugins",
    ({ root }) =>
      linked(
        root,
        list(
          so("rate_limit", { requests_per_second: "5" }, { type: "RateLimitPlugin" }),
          so("file_handler", {}, { type: "FileHandlerPlugin" }),
        ),
      ),
    [wrapped, "the type RateLimitPlugin is called Plugin here", "the type FileHandlerPlugin is called Plugin here"],
  ],
  [
    "types of plugins, in place of a library",
    ({ root }) =>
      linked(
        root,
        list(plugin("", {}, { type: "WebSocketPlugin" }), plugin("", {}, { type: "SelectorHandlerPlugin" })),
      ),
    [
      wrapped,
      "the type WebSocketPlugin is called Plugin here",
      "there is no library: it is taken from the type",
      "the type SelectorHandlerPlugin is called Plugin here",
    ],
  ],
  [
    "paths and types of the first version",
    ({ root, usersFile }) =>
      linked(
        root,
        `<tr itemref="authn" itemprop="plugin" itemscope itemtype="${theirs}/PluginConfig"><td><code itemprop="plugin-path">plugins/lib/libbasic_auth.so</code></td></tr>
        <tr><td id="authn" itemprop="authFile">${usersFile}</td></tr>
        <tr itemref="authz" itemprop="plugin" itemscope itemtype="${theirs}/PluginConfig"><td><code itemprop="plugin-path">plugins/lib/libfile_authz.so</code></td></tr>
        <tr><td id="authz" itemprop="authFile">${usersFile}</td></tr>`,
      ),
    [
      "authFile belongs to the plugin that refers to it, and not to the host",
      "the type PluginConfig is called Plugin here",
      "the library is in the property pluginPath: it is called library here",
      "the plugin file-authz is called authorization here",
      "authFile starts at the working directory, as it did in rusty-beam; seen from this page it is ../users.html",
    ],
  ],
  [
    "plugins by name, in a pipeline without host",
    ({ root }) =>
      page(
        `<table itemscope itemtype="${theirs}/ServerConfig"><tr><td itemprop="port">8080</td><td itemprop="server_root">${root}</td></tr></table>
        <ul itemscope itemtype="${theirs}/Pipeline">${plugin("file-handler", {}, { property: "name" })}${plugin("access-log", {}, { property: "name" })}</ul>`,
      ),
    [
      "the property port is called bindPort here",
      "there is no host: the page is read as if it had one for all names",
      wrapped,
      "the library is in the property name: it is called library here",
      common,
    ],
  ],
  [
    "plugins by name and path",
    ({ root }) =>
      linked(
        root,
        list(plugin("file-handler", { path: "file:///usr/lib/librusty_beam_file_handler.so" }, { property: "name" })),
      ),
    [
      wrapped,
      "the library is in the property path: it is called library here",
      "the property name is left out: a plugin has no name of its own",
    ],
  ],
  [
    "a list with the name plugins, of items without itemprop",
    ({ root }) =>
      linked(
        root,
        `<tr><td><ol itemprop="plugins">${files.map((each) => each.replace('itemprop="plugin" ', "")).join("")}</ol></td></tr>`,
      ),
    ['plugins is read as a list of plugins: write each in an item with itemprop="plugin"'],
  ],
  [
    "libraries in place of plugins",
    ({ root }) => linked(root, row("plugin", "file://./plugins/librusty_beam_file_handler.so")),
    ['plugin is read as a list of plugins: write each in an item with itemprop="plugin"'],
  ],
  [
    "root_dir beside hostRoot, and the second version of a library",
    ({ root }) =>
      linked(
        root,
        list(
          plugin("file://./plugins/selector-handler.so", { root_dir: root }),
          plugin("file://./plugins/file-handler-v2.so", { root_dir: root }),
        ),
      ),
    [
      wrapped,
      "root_dir is left out: the host says hostRoot, which came first in rusty-beam",
      "the plugin file-handler-v2 is called file-handler here",
    ],
  ],
  [
    "root_dir alone",
    ({ root }) =>
      page(
        server('itemref="h"', row("bindPort", "0")),
        host('id="h" itemprop="host"', row("hostname", "localhost"), plainList(so("file_handler", { root_dir: root }))),
      ),
    [
      "the property root_dir is called root here",
      "root starts at the working directory, as it did in rusty-beam; seen from this page it is ../site",
    ],
  ],
  [
    "an access log",
    ({ root, log }) =>
      linked(
        root,
        list(...files, so("access_log", { log_file: log, rotate_daily: "true", buffer_size: "10", name: "log" })),
      ),
    [
      wrapped,
      "the property log_file is called file here; its directory has to exist",
      "the property rotate_daily is left out: rotate with logrotate and SIGHUP",
      "the property buffer_size is left out: lines are written as they come",
      "the property name is left out: a plugin has no name of its own",
      common,
      "file starts at the working directory, as it did in rusty-beam; seen from this page it is ../logs/access.log",
    ],
  ],
  [
    "an access log in a format",
    ({ root, log }) => linked(root, list(so("access_log", { logfile: log, format: "json" }))),
    [
      wrapped,
      "the property logfile is called file here; its directory has to exist",
      "file starts at the working directory, as it did in rusty-beam; seen from this page it is ../logs/access.log",
    ],
  ],
  [
    "a health check with three paths",
    ({ root }) =>
      linked(
        root,
        list(
          so("health_check", {
            health_endpoint: "/status",
            ready_endpoint: "/is-ready",
            live_endpoint: "/is-live",
            min_disk_space_mb: "5",
          }),
          ...files,
        ),
      ),
    [
      wrapped,
      "the property health_endpoint is called path here",
      "a health check has one path here: this is another one",
      "the property min_disk_space_mb is left out: the space is not measured",
    ],
  ],
  [
    "a rate limit by what had no effect",
    ({ root }) =>
      linked(
        root,
        list(
          so("rate_limit", { requests: "10", window: "60", burst: "5", limit: "3", key_strategy: "global" }),
          ...files,
        ),
      ),
    [
      wrapped,
      ...["requests", "window", "burst", "limit"].map(
        (name) => `the property ${name} is left out: it had no effect in rusty-beam`,
      ),
      "key_strategy is ip, which rusty-beam took for global as well",
    ],
  ],
  [
    "web sockets with options of a later version",
    ({ root }) =>
      linked(
        root,
        list(
          so("websocket", {
            max_connections: "5",
            message_size_limit: "100",
            broadcast_buffer_size: "9",
            ping_interval: "20",
          }),
        ),
      ),
    [
      wrapped,
      "the property max_connections is called max_clients here",
      "the property message_size_limit is left out: it had no effect in rusty-beam",
      "the property broadcast_buffer_size is left out: it had no effect in rusty-beam",
    ],
  ],
  [
    "plugins that are part of every host here",
    ({ root }) => linked(root, list(so("config_reload"), so("error_handler"), ...files)),
    [
      wrapped,
      "the plugin config-reload is left out: the page is read again at SIGHUP, and with --watch-config whenever it changes",
      "the plugin error-handler is left out: replies to errors have pages; error-pages sends those of yours",
    ],
  ],
  [
    "cross-origin and security headers",
    ({ root }) => linked(root, list(so("cors"), so("security_headers"), ...files)),
    [wrapped, "cors without origins is for those in allowedOrigins of the host; in rusty-beam it is for all"],
  ],
  [
    "cross-origin rules",
    ({ root }) =>
      linked(
        root,
        list(
          so("cors", { allowed_origins: "https://a.example", allowed_methods: "GET", allow_credentials: "true" }),
          ...files,
        ),
      ),
    [
      wrapped,
      "the property allowed_origins is called origins here",
      "the property allowed_methods is left out: the methods of the protocol are allowed",
      "the property allow_credentials is called credentials here",
    ],
  ],
  [
    "a directory by location, with plugins in it",
    ({ root, usersFile }) =>
      linked(
        root,
        plainList(
          plugin(
            "file://./plugins/libdirectory.so",
            { directory: "file://./sites/main/admin" },
            { inside: `<ol>${so("basic_auth", { realm: "Admin", authfile: usersFile })}</ol>` },
          ),
          ...files,
        ),
      ),
    [
      "the directory is a path of the site here: /admin",
      "authfile starts at the working directory, as it did in rusty-beam; seen from this page it is ../users.html",
    ],
  ],
];
