/** Pages in the shapes of rusty-beam's, for tests. */

const theirs = "http://rustybeam.net";

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
