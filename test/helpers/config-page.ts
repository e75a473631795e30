/** The item of a plugin; a parameter with several values stands there once for each. */
export function pluginItem(
  library: string,
  parameters: Readonly<Record<string, string | readonly string[]>> = {},
): string {
  return `<li itemprop="plugin" itemscope itemtype="https://example.com/Plugin">${metas({ library, ...parameters })}</li>`;
}

/** A configuration page with one host, which answers to every name. */
export function configPage(
  root: string | readonly string[],
  { plugins = [], server = {}, host = {} }: PageParts = {},
): string {
  return `<!doctype html>
<title>Configuration</title>
<main itemscope itemtype="https://example.com/ServerConfig">
${metas(server)}
<section itemprop="host" itemscope itemtype="https://example.com/HostConfig">
${metas({ hostname: "*", hostRoot: root, ...host })}
<ol>${plugins.join("\n")}</ol>
</section>
</main>
`;
}

interface PageParts {
  readonly plugins?: readonly string[];
  readonly server?: Readonly<Record<string, string>>;
  readonly host?: Readonly<Record<string, string>>;
}

function metas(properties: Readonly<Record<string, string | readonly string[]>>): string {
  return Object.entries(properties)
    .flatMap(([name, values]) => [values].flat().map((value) => `<meta itemprop="${name}" content="${value}">`))
    .join("\n");
}
