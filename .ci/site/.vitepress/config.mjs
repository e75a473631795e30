// The site of the documentation. Its source is plain Markdown, which reads as well in the repository and in the package:
// no page knows of this configuration.
import { readdirSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const project = fileURLToPath(new URL("../../..", import.meta.url));

/** Files and folders of the project that pages link to and that are no pages: examples. The site carries a copy of them. */
const icon = "examples/site/icon.svg";
const linkedFiles = new Set([icon]);

export default defineConfig({
  title: "Filement",
  description: JSON.parse(readFileSync(join(project, "package.json"), "utf8")).description,
  lang: "en",
  head: [["link", { rel: "icon", href: `/${icon}` }]],
  srcDir: project,
  srcExclude: [".*/**", "build/**", "examples/**", "src/**", "test/**"],
  rewrites: { "README.md": "index.md" },
  outDir: "./dist",
  cacheDir: "./node_modules/.cache",
  cleanUrls: true,
  ignoreDeadLinks: "localhostLinks", // addresses to try; build.mjs checks all links once more, and anchors
  markdown: {
    html: false, // outside of code, `<` is a character: as on the page in the repository
    anchor: { slugify: slugOf },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config(markdown) {
      markdown.core.ruler.push("links-to-files", linkToFiles);
      markdown.core.ruler.push("headings-by-name", leavePermalinksToTheMouse);
    },
  },
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Quick start", link: "/docs/quick-start" },
      { text: "Plugins", link: "/docs/plugins/basic-auth" },
      { text: "API", link: "/api/" },
      { text: "Changes", link: "/CHANGELOG" },
    ],
    outline: [2, 3],
    sidebar: sidebar(),
  },
  async buildEnd({ outDir }) {
    for (const path of linkedFiles) await cp(join(project, path), join(outDir, path), { recursive: true });
  },
});

/** The anchor that GitHub gives a heading, so that a link leads to the same place here and there. */
function slugOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** A heading is called by its text: the link to itself, which shows beside it, would be read as a part of its name. */
function leavePermalinksToTheMouse({ tokens }) {
  for (const { children } of tokens) {
    for (const token of children ?? []) {
      if (token.attrGet("class") !== "header-anchor") continue;
      token.attrSet("aria-hidden", "true");
      token.attrSet("tabindex", "-1");
    }
  }
}

/** Has links to the README lead to the first page, and links to other files of the project to the copy of those. */
function linkToFiles({ tokens, env }) {
  const links = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === "link_open");
  for (const link of links) {
    const [path, anchor] = link.attrGet("href").split("#");
    if (path === "" || /^[a-z]+:/.test(path)) continue;
    const target = posix.join(posix.dirname(env.relativePath), path).replace(/\/$/, "");
    if (target === "README.md") link.attrSet("href", anchor ? `/#${anchor}` : "/");
    else if (!target.endsWith(".md")) {
      linkedFiles.add(target);
      link.attrSet("href", `/${target}`);
      link.attrSet("target", "_self"); // a file, not a page of the site
    }
  }
}

/** All pages: those for users in the order in which one reads them, then the plugins, then what is inside. */
function sidebar() {
  const begin = ["quick-start", "embedding", "bundling", "when-not", "moving", "coming-from-rusty-beam"];
  const use = ["selectors", "edits", "html", "live-pages", "listings", "change-events", "external-edits", "agents"];
  const run = ["options", "configuration", "deploying", "scaling", "security", "errors"];
  const placed = new Set([...begin, ...use, ...run, "writing-a-plugin"]);
  const others = namesIn("docs").filter((name) => !placed.has(name));
  return [
    { text: "Begin", items: pages("docs", begin) },
    { text: "Use", items: pages("docs", [...use, ...others]) },
    { text: "Run", items: pages("docs", run) },
    { text: "Recipes", items: pages("docs/recipes") },
    { text: "Plugins", items: [...pages("docs", ["writing-a-plugin"]), ...pages("docs/plugins")] },
    { text: "API", items: pages("api") },
    { text: "Inside", items: [...pages("docs/internals"), ...pages("", ["CONTRIBUTING", "SECURITY", "CHANGELOG"])] },
  ];
}

/** What stands under "Recipes" or "API" need not say so. */
function shortened(heading) {
  return heading.replace(/^\w+: ./, (start) => start.slice(-1).toUpperCase());
}

/** The pages of a folder, by their names, with their headings. */
function pages(folder, names = namesIn(folder)) {
  return names.map((name) => {
    const [, heading] = /^# (.+)$/m.exec(readFileSync(join(project, folder, `${name}.md`), "utf8"));
    return { text: shortened(heading), link: posix.join("/", folder, name).replace(/\/index$/, "/") };
  });
}

function namesIn(folder) {
  const files = readdirSync(join(project, folder)).filter((name) => name.endsWith(".md"));
  return files.map((name) => name.slice(0, -".md".length)).sort();
}
