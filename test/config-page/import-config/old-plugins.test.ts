import { describe, expect, it } from "vitest";
import { OldPlugins } from "../../../src/config-page/import-config/old-plugins.ts";
import { type Difference, TranslatedItem } from "../../../src/config-page/import-config/translated-item.ts";
import type { MicrodataItem } from "../../../src/html/microdata.ts";
import { itemOf } from "../../helpers/microdata.ts";
import { plugin, so } from "./old-pages.ts";

/** What becomes of the plugins of a host. */
async function translated(...plugins: readonly string[]) {
  const host = await itemOf(`<div itemscope itemtype="http://rustybeam.net/HostConfig">${plugins.join("\n")}</div>`);
  const differences: Difference[] = [];
  const reader = new OldPlugins([host], ".", differences);
  const translated = new TranslatedItem(host);
  const items: MicrodataItem[] = [];
  for (const value of host.properties.get("plugin") ?? []) {
    for (const each of reader.listed(translated, "plugin", value))
      items.push(...(await reader.translated(each, translated)));
  }
  return { plugins: items.map(asText), differences: differences.map(({ text }) => text) };
}

function asText({ types, properties }: MicrodataItem): string {
  const values = [...properties].map(([name, all]) => {
    const texts = all.map(({ value }) => (typeof value === "string" ? value : `(${asText(value)})`));
    return `${name}=${texts.join()}`;
  });
  return [...types, ...values].join(" ");
}

describe("plugins of rusty-beam", () => {
  it("have their libraries in one property, under our names", async () => {
    const { plugins } = await translated(
      so("rate_limit", { name: "one" }),
      plugin("lib/libfile_authz.so", { authFile: "u" }, { property: "plugin-path", type: "PluginConfig" }),
      plugin("health-check", { path: "/status" }, { property: "name" }),
      plugin("", { ping_interval: "5" }, { type: "WebSocketPlugin" }),
    );
    expect(plugins).toEqual([
      "/Plugin library=file://./plugins/librusty_beam_rate_limit.so name=one",
      "/Plugin authFile=u library=authorization",
      "/Plugin path=/status library=health-check",
      "/Plugin ping_interval=5 library=websocket",
    ]);
  });

  it("keep what they have in them, and a directory of a type of its own stays one", async () => {
    const inside = so("basic_auth", { authfile: "u" }, { element: "b" });
    const { plugins } = await translated(
      plugin("", { directory: "/a" }, { type: "DirectoryPlugin", element: "div", inside }),
    );
    expect(plugins).toEqual([
      "/Plugin directory=/a library=directory plugin=(/Plugin library=file://./plugins/librusty_beam_basic_auth.so authfile=u)",
    ]);
  });

  it("come out of lists in lists, in their order", async () => {
    const inner = plugin("", {}, { element: "div", type: "Pipeline", inside: so("metrics", {}, { element: "b" }) });
    const { plugins } = await translated(
      plugin("", {}, { element: "div", inside: so("websocket", {}, { element: "b" }) + inner }),
      so("cors"),
    );
    expect(plugins.map((each) => /_(\w+)\.so/.exec(each)?.[1])).toEqual([
      "beam_websocket",
      "beam_metrics",
      "beam_cors",
    ]);
  });

  it("are looked for to a depth that no page needs", async () => {
    let nested = so("metrics", {}, { element: "b" });
    for (let depth = 0; depth < 100; depth += 1) nested = plugin("", {}, { element: "div", inside: nested });
    const { plugins } = await translated(nested);
    expect(plugins).toHaveLength(1);
  });

  it("are left as they are where they are not known", async () => {
    const { plugins, differences } = await translated(so("fortune", { speed: "1" }, { element: "div" }));
    expect(plugins).toEqual(["/Plugin library=file://./plugins/librusty_beam_fortune.so speed=1"]);
    expect(differences).toEqual([]);
  });
});
