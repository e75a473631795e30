// The API reference of the site, from the declarations in `dist`, against which programs are compiled.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";

const project = fileURLToPath(new URL("..", import.meta.url));

/**
 * The pages, and what is on each: all that an entry point of the package exports, or what of it lies in some folders.
 *
 * @type {readonly { name: string, title: string, from: string, entry: string, folders?: RegExp }[]}
 */
const pages = [
  { name: "server", title: "API: the server", from: "filement", entry: "index", folders: /^(?!plugins\/|storage\/)/ },
  { name: "plugins", title: "API: plugins", from: "filement", entry: "index", folders: /^plugins\// },
  { name: "storage", title: "API: storage", from: "filement", entry: "index", folders: /^storage\// },
  { name: "client", title: "API: in the browser", from: "filement/client", entry: "client/client" },
  { name: "html", title: "API: pages without a server", from: "filement/html", entry: "html/page" },
  { name: "mcp", title: "API: agents", from: "filement/mcp", entry: "plugins/mcp" },
  { name: "redis", title: "API: Redis", from: "filement/redis", entry: "redis/index" },
  { name: "s3", title: "API: S3", from: "filement/s3", entry: "storage/s3/s3-storage" },
];

/**
 * A name that a module declares.
 *
 * @typedef {object} Declared
 * @property {string} name
 * @property {boolean} isValue whether programs import it to run it, not only as a type
 * @property {string} comment
 * @property {string[]} code every declaration of the name
 * @property {string[]} uses names of types in them
 */

/** @typedef {{ module: string, name: string, isType?: boolean }} Place where a name is declared, and whether only its type is meant */
/** @typedef {Declared & { page: string, module: string, isExported: boolean }} Entry */
/** @typedef {{ declared: Map<string, Declared>, imported: Map<string, Place>, exported: Place[] }} Module */

/**
 * The pages of the reference: path in the project, and text.
 *
 * @returns {Map<string, string>}
 */
export function apiReference() {
  /** @type {Map<string, Module>} */
  const modules = new Map();
  /** @type {Map<string, Entry>} by module and name */
  const entries = new Map();
  for (const { name: page, entry, folders = /^/ } of pages) {
    for (const place of moduleAt(entry).exported) if (folders.test(place.module)) add(place, page, true);
  }
  for (const { module, uses, page } of entries.values()) {
    for (const name of uses) add({ module, name }, page, false); // readers meet them, though nothing exports them
  }
  const all = [...entries.values()];
  const texts = pages.map((page) => /** @type {const} */ ([`api/${page.name}.md`, pageText(page, all)]));
  return new Map([["api/index.md", overview(all)], ...texts]);

  /** @type {(place: Place, page: string, isExported: boolean) => void} */
  function add({ module, name, isType = false }, page, isExported) {
    const { declared, imported } = moduleAt(module);
    const found = declared.get(name);
    const elsewhere = imported.get(name);
    const key = `${module} ${name}`;
    if (found && !entries.has(key)) {
      entries.set(key, { ...found, page, module, isExported, isValue: found.isValue && !isType });
    }
    if (!found && elsewhere) add(elsewhere, page, isExported);
  }

  /** @param {string} name */
  function moduleAt(name) {
    const module = modules.get(name) ?? readModule(name);
    modules.set(name, module);
    return module;
  }
}

/**
 * @param {string} module
 * @returns {Module}
 */
function readModule(module) {
  const text = readFileSync(join(project, "dist", `${module}.d.ts`), "utf8");
  /** @type {Module} */
  const { declared, imported, exported } = { declared: new Map(), imported: new Map(), exported: [] };
  let end = 0;
  for (const statement of parseAst(text, { lang: "dts" }).body) {
    const comment = text.slice(end, statement.start);
    end = statement.end;
    const source = "source" in statement ? statement.source?.value : undefined;
    const from = source?.startsWith(".") ? posix.join(posix.dirname(module), source.replace(/\.ts$/, "")) : undefined;
    if (statement.type === "ImportDeclaration" && from) {
      for (const specifier of statement.specifiers) {
        if (specifier.type !== "ImportSpecifier") continue;
        imported.set(specifier.local.name, { module: from, name: nameOf(specifier.imported) });
      }
    } else if (statement.type === "ExportNamedDeclaration" && statement.declaration === null) {
      for (const { local, exportKind } of statement.specifiers) {
        const isType = [statement.exportKind, exportKind].includes("type");
        exported.push({ module: from ?? module, name: nameOf(local), isType });
      }
    } else {
      const isExport = statement.type === "ExportNamedDeclaration";
      declare(isExport ? statement.declaration : statement, comment, isExport);
    }
  }
  return { declared, imported, exported };

  /** @type {(declaration: any, comment: string, isExport: boolean) => void} */
  function declare(declaration, comment, isExport) {
    const name = (declaration.id ?? declaration.declarations?.[0]?.id)?.name;
    if (name === undefined) return;
    if (isExport && !declared.has(name)) exported.push({ module, name });
    const isValue = !declaration.type.startsWith("TSInterface") && declaration.type !== "TSTypeAliasDeclaration";
    /** @type {Declared} */
    const entry = declared.get(name) ?? { name, isValue, comment, code: [], uses: [] };
    entry.code.push(tidy(text.slice(declaration.start, declaration.end)));
    entry.uses.push(...typeNames(declaration));
    declared.set(name, entry);
  }
}

/** @type {(node: any) => string} */
function nameOf(node) {
  return node.name ?? node.value;
}

/**
 * The names of types anywhere in a declaration.
 *
 * @type {(node: any) => string[]}
 */
function typeNames(node) {
  if (node === null || typeof node !== "object") return [];
  if (Array.isArray(node)) return node.flatMap(typeNames);
  const own = {
    TSTypeReference: node.typeName,
    TSInterfaceHeritage: node.expression,
    TSClassImplements: node.expression,
  };
  const { name } = own[/** @type {keyof typeof own} */ (node.type)] ?? {};
  return [...(name ? [name] : []), ...Object.values(node).flatMap(typeNames)];
}

/**
 * A declaration as one reads it: without what only a compiler needs.
 *
 * @param {string} code
 */
function tidy(code) {
  return code
    .replace(/^declare /, "")
    .replace(/^ *(?:#private;|private .*;)\n/gm, "")
    .replace(/^(?: {4})+/gm, (indent) => indent.slice(indent.length / 2))
    .replace(/ \| undefined;$/gm, ";") // said by the question mark
    .replace(/\{@link (\w+)\}/g, "`$1`");
}

/** @type {(page: (typeof pages)[number], entries: readonly Entry[]) => string} */
function pageText({ name, title, from }, entries) {
  const own = entries.filter(({ page }) => page === name);
  const exported = own.filter(({ isExported }) => isExported).sort(byModule);
  const others = own.filter(({ isExported }) => !isExported).sort(byModule);
  const values = exported.filter(({ isValue }) => isValue).map((entry) => entry.name);
  return [
    `# ${title}`,
    `Made from the types by \`npm run api\`; [all names](index.md).`,
    `\`\`\`ts\nimport { ${values.join(", ")} } from "${from}";\n\`\`\``.replace(/.{100,}/, (line) => inLines(line)),
    ...exported.map((entry) => entryText(entry, "##", entries)),
    ...(others.length > 0 ? ["## Types that these name", "They are not exported."] : []),
    ...others.map((entry) => entryText(entry, "###", entries)),
    "",
  ]
    .join("\n\n")
    .replace(/\n+$/, "\n");
}

/** Modules in the order of their paths; in each, what runs comes before its types. @type {(a: Entry, b: Entry) => number} */
function byModule(a, b) {
  if (a.module !== b.module) return a.module < b.module ? -1 : 1;
  return Number(b.isValue) - Number(a.isValue);
}

/** A long list of imports, a name on each line. @param {string} line */
function inLines(line) {
  return line.replace("{ ", "{\n  ").replaceAll(", ", ",\n  ").replace(" }", ",\n}");
}

/** @type {(entry: Entry, level: string, entries: readonly Entry[]) => string} */
function entryText({ name, page, comment, code, uses }, level, entries) {
  const { text, example } = readComment(comment);
  const types = [...new Set(uses)].filter((type) => type !== name);
  const links = types.flatMap((type) => linkTo(type, page, entries) ?? []);
  return [
    `${level} ${name}`,
    ...(text === "" ? [] : [text]),
    `\`\`\`ts\n${code.join("\n")}\n\`\`\``,
    ...(example === "" ? [] : [`For example:\n\n\`\`\`ts\n${example}\n\`\`\``]),
    ...(links.length === 0 ? [] : [`See ${links.join(", ")}.`]),
  ].join("\n\n");
}

/** @type {(name: string, from: string, entries: readonly Entry[]) => string | undefined} */
function linkTo(name, from, entries) {
  const found = entries.filter((entry) => entry.name === name);
  const entry = found.find(({ page }) => page === from) ?? found[0];
  if (entry === undefined) return undefined;
  const path = from === entry.page ? "" : from === "" ? `api/${entry.page}.md` : `${entry.page}.md`;
  return `[\`${name}\`](${path}#${name.toLowerCase()})`;
}

/** The text of a doc comment, and its example. @param {string} comment */
function readComment(comment) {
  const [, inner = ""] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(comment) ?? [];
  const lines = inner.replace(/^[ \t]*\* ?/gm, "").trim();
  const [text = "", example = ""] = lines.split(/^@example\s*/m);
  const code = example.replace(/^```\w*\n|\n```$/g, "");
  return {
    text: text
      .replace(/\{@link (\w+)\}/g, "`$1`")
      .replace(/^@(\w+) /gm, "\n$1: ")
      .trim(),
    example: code.trim(),
  };
}

/** @param {readonly Entry[]} entries */
function overview(entries) {
  const lists = pages.map(({ name, title, from }) => {
    const own = entries.filter(({ page, isExported }) => page === name && isExported).sort(byModule);
    const list = (/** @type {boolean} */ isValue) =>
      own
        .filter((entry) => entry.isValue === isValue)
        .map((entry) => `[\`${entry.name}\`](${name}.md#${entry.name.toLowerCase()})`);
    const types = list(false);
    return [
      `## [${title.replace("API: ", "").replace(/^./, (letter) => letter.toUpperCase())}](${name}.md)`,
      `From \`${from}\`: ${list(true).join(" ·\n")}`,
      ...(types.length > 0 ? [`Types: ${types.join(" ·\n")}`] : []),
    ].join("\n\n");
  });
  return `${["# API reference", "What the package exports, made from its types.", ...lists].join("\n\n")}\n`;
}

/** Writes the pages into the project, where the site finds them. */
export function writeApiReference() {
  rmSync(join(project, "api"), { recursive: true, force: true });
  mkdirSync(join(project, "api"));
  for (const [path, text] of apiReference()) writeFileSync(join(project, path), text);
}
