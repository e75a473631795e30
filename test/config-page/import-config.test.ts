import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../src/config.ts";
import { importConfig } from "../../src/config-page/import-config.ts";
import { loadConfig } from "../../src/config-page/load-config.ts";
import { readMicrodataPage } from "../../src/html/microdata.ts";
import { files, linked, list, type Place, place, row, so } from "./import-config/old-pages.ts";

async function imported({ directory }: Place, text: string) {
  const location = join(directory, "config/old.html");
  await writeFile(location, text);
  return { location, ...(await importConfig(location)) };
}

describe("importConfig", () => {
  it("writes a comment at each difference, and keeps values as they are", async () => {
    const at = await place();
    const { html } = await imported(
      at,
      linked(at.root, row("title", "R &amp; <i>D</i>"), list(so("config_reload"), ...files)),
    );
    expect(html).toContain('<!doctype html>\n<meta charset="utf-8">\n<title>Configuration</title>\n');
    expect(html).toContain("    <!-- line 9: the property hostName is called hostname here -->\n");
    expect(html).toContain('<dt>hostname</dt> <dd itemprop="hostname">localhost</dd>');
    expect(html).toContain('<dt>title</dt> <dd itemprop="title">R &amp; D</dd>');
    expect(html).toContain('<dt>library</dt> <dd itemprop="library">file-handler</dd>');
    expect(html).toMatch(
      /<!-- line \d+: the plugin config-reload is left out: .* with - -watch-config whenever it changes -->/,
    );
    expect((await readMicrodataPage(html)).mistakes).toEqual([]);
  });

  it("leaves a plugin that is missing where it was, so that nothing is served without it", async () => {
    const at = await place();
    const { html, problems } = await imported(at, linked(at.root, list(so("oauth2", { client_id: "a" }), ...files)));
    expect(problems).toEqual([
      expect.stringMatching(/old\.html:\d+: there is no plugin oauth2 here: sign-ins by OAuth2/),
      expect.stringMatching(/old\.html:\d+: library is "file:.*oauth2\.so": expected the name of a plugin/),
    ]);
    expect(html).toContain('<dd itemprop="library">file://./plugins/librusty_beam_oauth2.so</dd>');
    await writeFile(join(at.directory, "config/new.html"), html);
    await expect(loadConfig(join(at.directory, "config/new.html"))).rejects.toThrow("expected the name of a plugin");
  });

  it("leaves a page as it is that is in our words", async () => {
    const at = await place();
    await mkdir(join(at.directory, "config/site"));
    const { html } = await imported(
      at,
      linked("site").replaceAll("hostName", "hostname").replaceAll("rustybeam.net", "x.example"),
    );
    expect(html).not.toContain("<!--");
    expect((await imported(at, html)).html).toBe(html);
  });

  it("says what a page has to have, and where it is", async () => {
    const at = await place();
    await expect(imported(at, "<p>Hello")).rejects.toThrow("there is no item of a type that ends in /ServerConfig");
    await expect(importConfig("missing.html")).rejects.toThrow(ConfigError);
    await expect(importConfig("https://example.org/")).rejects.toThrow("expected a path or a file:// location");
  });
});
