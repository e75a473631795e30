import { createHash } from "node:crypto";
import { entityTag } from "../http/entity-tag.ts";
import { escapeHtml } from "../http/escape-html.ts";
import { encodePath } from "../http/request-target.ts";
import type { StoredEntry } from "../storage/storage.ts";
import { modulesPath } from "./browser-module.ts";
import { directoryPageStyle, folderIcon, rowsOfGroup } from "./directory-page-style.ts";
import { type FileRequest, siteTitle } from "./file-request.ts";
import { type ListingColumn, type ListingQuery, linkTo, linkToPage } from "./listing-query.ts";
import { linkToNext, type SelectedNames } from "./select-names.ts";
import type { ListedEntry } from "./visible-entries.ts";
import { zipLimits } from "./zip-directory.ts";

export interface DirectoryPageContent {
  readonly query: ListingQuery;
  /** The names on this page, and how it lies in the directory. */
  readonly selected: SelectedNames;
  /** The same entries, measured, in the order in which they are shown. */
  readonly entries: AsyncIterable<readonly ListedEntry[]>;
}

const styleHash = createHash("sha256").update(directoryPageStyle).digest("base64");

/** The `Content-Security-Policy` of the page: its own style, modules of this server, and files of it to look at. */
export const directoryPagePolicy: string = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "img-src 'self' data:",
  ...["script", "connect", "media", "frame"].map((kind) => `${kind}-src 'self'`),
  "base-uri 'none'",
  ...["form-action", "frame-ancestors"].map((kind) => `${kind} 'self'`),
].join("; ");

const zipLink = `<a class="zip" href="?zip">Download as .zip</a>`;

const columns: Record<ListingColumn, { readonly title: string; readonly descendsFirst: boolean }> = {
  name: { title: "Name", descendsFirst: false },
  // People who sort by these look for the largest, or the newest.
  size: { title: "Size", descendsFirst: true },
  modified: { title: "Modified<span> (UTC)</span>", descendsFirst: true },
};

/** The page of a directory, in pieces. Links are relative, for any mount, and begin with `./`: no name is a scheme. */
export async function* directoryPage(request: FileRequest, content: DirectoryPageContent): AsyncGenerator<string> {
  const { path, options, exchange } = request;
  const { history, feed } = exchange.site;
  const { query, selected } = content;
  const mayAdd = changesOf(request).includes("PUT") && exchange.access.permitsPath("create", `${path}new`);
  const names = [siteTitle(request), ...path.split("/").filter((segment) => segment !== "")];
  const toRoot = "../".repeat(names.length - 1) || "./";
  const fromHere = (target: string): string => escapeHtml(toRoot + encodePath(target).slice(1));
  const data = [
    mayAdd ? " data-may-add" : "",
    history ? ` data-history="${fromHere(history.base + path.slice(1))}"` : "",
    feed ? ` data-${feed.kind}="${fromHere(feed.path)}?path=${escapeHtml(encodeURIComponent(path))}"` : "",
  ];
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${shown(names.toReversed().join(" \u2013 "))}</title>
${folderIcon}
<style>${directoryPageStyle}</style>
<script type="module" src="${toRoot}${modulesPath.slice(1)}listing.js"></script>
</head>
<body${data.join("")}>
<header>
${breadcrumbs(names.slice(0, -1), searchOf(query))}<h1><bdi>${shown(names.at(-1) ?? "")}</bdi></h1>
${signInLine(request)}<div class="bar">${findForm(query)}${zipLimits(options) ? zipLink : ""}</div></header>
<main>
`;
  if (selected.directories + selected.files + selected.before === 0) yield emptyNote(query, mayAdd, names.at(-2));
  else {
    const links = otherPages(query, selected);
    if (links !== "") yield `<nav class="pages" aria-label="Pages">${links}</nav>\n`;
    yield* table(request, content);
    if (links !== "") yield `<p class="pages">${links}</p>\n`;
  }
  yield "</main>\n</body>\n</html>\n";
}

function breadcrumbs(above: readonly string[], search: string): string {
  if (above.length === 0) return "";
  const items = above.map((name, i) => {
    return `<li><a href="${"../".repeat(above.length - i)}${escapeHtml(search)}">${shown(name)}</a></li>`;
  });
  return `<nav aria-label="Folders above"><ol>${items.join("")}</ol></nav>\n`;
}

function signInLine(request: FileRequest): string {
  const { user } = request.exchange;
  if (user !== undefined) return `<p class="user">Signed in as <bdi>${shown(user.name)}</bdi></p>\n`;
  return canSignIn(request) ? `<p class="user"><a href="?signin">Sign in</a></p>\n` : "";
}

export function canSignIn({ exchange: { access, user } }: FileRequest): boolean {
  return user === undefined && access.refusal().status === 401;
}

/** Searches below; in a browser that runs the module, the field filters the page as well. */
function findForm({ find = "" }: ListingQuery): string {
  const label = "Filter by name; Enter searches the folders below as well";
  const field = `<input type="search" name="find" value="${escapeHtml(find)}" placeholder="Search" aria-label="${label}">`;
  const all = find === "" ? "" : ` <a href="./">Show the folder</a>`;
  return `<form class="find" role="search">${field}${all}</form>`;
}

function emptyNote({ find }: ListingQuery, mayAdd: boolean, parent: string | undefined): string {
  if (find !== undefined) return `<p class="empty">No name here or below has “${shown(find)}” in it.</p>\n`;
  const invitation = mayAdd ? " Drop files here, or begin with New file." : "";
  const back = parent === undefined ? "" : `<p><a href="../">Back to ${shown(parent)}</a></p>\n`;
  return `<p class="empty">There is nothing in this folder yet.${invitation}</p>\n${back}`;
}

function otherPages(query: ListingQuery, selected: SelectedNames): string {
  const links: string[] = [];
  const next = linkToNext(query, selected);
  if (selected.before > 0) links.push(pageLink(linkToPage(query, undefined), "First page"));
  if (next !== undefined) links.push(pageLink(next, "Next page", ` rel="next"`));
  return links.join(" ");
}

function pageLink(href: string, text: string, attributes = ""): string {
  return `<a href="${escapeHtml(href)}"${attributes}>${text}</a>`;
}

async function* table(
  request: FileRequest,
  { query, selected, entries }: DirectoryPageContent,
): AsyncGenerator<string> {
  const headings = (Object.keys(columns) as ListingColumn[]).map((column) => heading(column, query));
  yield `<table>
<caption>${summary(selected)}${query.find === undefined ? "" : ` with “${shown(query.find)}” in the name, here and below`}</caption>
<thead><tr>${headings.join("")}</tr></thead>
<tbody>
`;
  const search = searchOf(query);
  let [count, together] = [0, 0];
  for await (const batch of entries) {
    let rows = "";
    for (const entry of batch) {
      if (count > 0 && count % rowsOfGroup === 0) rows += "</tbody>\n<tbody>\n";
      rows += row(entry, request, search);
      count += 1;
      if (entry.type === "file") together += entry.stat.size;
    }
    yield rows;
  }
  const sum = `<tfoot><tr><th scope="row">Together</th><td>${sizeData(together)}</td><td></td></tr></tfoot>\n`;
  yield `</tbody>\n${selected.files > 1 ? sum : ""}</table>\n`;
}

function heading(column: ListingColumn, query: ListingQuery): string {
  const { title, descendsFirst } = columns[column];
  const { order } = query;
  const isCurrent = column === order.column;
  const descending = isCurrent ? !order.descending : descendsFirst;
  const sorted = isCurrent ? ` aria-sort="${order.descending ? "descending" : "ascending"}"` : "";
  return `<th scope="col"${sorted}>${pageLink(linkTo({ ...query, order: { column, descending } }, true), title)}</th>`;
}

/** @param search keeps the order of this page in the folders that it links to. */
function row(
  { name, type, stat: { size, modified, version } }: ListedEntry,
  request: FileRequest,
  search: string,
): string {
  const isFolder = type === "directory";
  const time = modified.toISOString();
  const kind = isFolder ? "folder" : kindOf(request.contentTypeOf(name));
  const offered = offeredFor(request, { name, type });
  const tag = isFolder ? "" : ` data-tag="${escapeHtml(entityTag(version))}"`;
  const may = offered.length > 0 ? ` data-may="${offered.join(" ")}"${tag}` : "";
  const href = escapeHtml(linkToEntry({ name, type }) + (isFolder ? search : ""));
  return (
    `<tr${may}><th scope="row"><a class="${kind}" href="${href}">${shown(name)}${isFolder ? "/" : ""}</a></th>` +
    `<td>${type === "file" ? sizeData(size) : ""}</td>` +
    `<td><time datetime="${time}">${time.slice(0, 10)} ${time.slice(11, 16)}</time></td></tr>\n`
  );
}

/** The methods for which the page has buttons. */
function changesOf({ exchange, options: { listing } }: FileRequest): readonly string[] {
  return typeof listing === "object" && listing.edit ? exchange.site.options.methods : [];
}

/** What this user may do with an entry. */
function offeredFor(request: FileRequest, { name, type }: StoredEntry): readonly string[] {
  const { access, site } = request.exchange;
  const methods = changesOf(request);
  const isFile = type === "file";
  const target = request.path + name + (isFile ? "" : "/");
  const mayWrite = isFile && methods.includes("PUT") && access.permitsPath("overwrite", target);
  const mayDelete = methods.includes("DELETE") && access.permitsPath("delete", target);
  const mayMove = mayDelete && methods.includes("MOVE");
  const hasHistory = isFile && site.history?.covers(target) === true;
  const rights = [mayWrite && "write", mayMove && "move", mayDelete && "delete", hasHistory && "history"];
  return rights.filter((right) => right !== false);
}

function kindOf(type: string): string {
  if (/^text\/html\b|xhtml/.test(type)) return "page";
  if (/^(?:image|audio|video)\//.test(type)) return type.slice(0, type.indexOf("/"));
  if (/^text\/|[/+](?:json|xml|javascript|yaml|toml)\b/.test(type)) return "text";
  if (type === "application/pdf") return "pdf";
  return /zip|tar|compressed|7z/.test(type) ? "archive" : "other";
}

/** What a link to another directory ends in, to be listed in the same order. */
function searchOf(query: ListingQuery): string {
  const link = linkToPage({ order: query.order, limit: undefined, after: undefined }, undefined);
  return link.startsWith("?") ? link : "";
}

function sizeData(size: number): string {
  return `<data value="${size}" title="${size.toLocaleString("en")} byte${size === 1 ? "" : "s"}">${humanSize(size)}</data>`;
}

/** A size as people say it: at most three digits and a decimal unit, `1.2 kB`. */
export function humanSize(size: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let value = size;
  let unit = 0;
  // 999.5 would be shown as 1000.
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  // 9.95 would be shown as 10.0.
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

function summary({ names, before, directories, files, isFollowed }: SelectedNames): string {
  const parts = [counted(directories, "folder"), counted(files, "file")];
  const all = parts.filter((part) => part !== "").join(" and ");
  if (isFollowed !== undefined) return `${all || "Nothing"} on this page, which sorts only these`;
  if (names.length === directories + files) return all;
  if (names.length === 0) return `${all}; none of them on this page`;
  const [first, last] = [before + 1, before + names.length].map((position) => position.toLocaleString("en"));
  return `${all}; this page shows ${first} to ${last} and sorts only these`;
}

function counted(count: number, noun: string): string {
  if (count === 0) return "";
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Escapes text, and shows controls of its direction by number: `photo-gpj.exe` would look like `photo-exe.jpg`. */
function shown(text: string): string {
  return escapeHtml(text).replace(/\p{Bidi_Control}/gu, (control) => {
    return `[U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}

/** A link to an entry, from its directory. The `./` keeps a name with a colon from being a scheme. */
function linkToEntry({ name, type }: StoredEntry): string {
  const segments = name.replace(/\p{Surrogate}/gu, "\ufffd").split("/"); // what a search has found may lie below
  return `./${segments.map(encodeURIComponent).join("/")}${type === "directory" ? "/" : ""}`;
}
