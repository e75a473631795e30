import { createHash } from "node:crypto";
import { escapeHtml } from "../http/escape-html.ts";
import type { StoredEntry } from "../storage/storage.ts";
import { directoryPageStyle } from "./directory-page-style.ts";
import type { ListingColumn, ListingOrder } from "./listing-order.ts";

/** What a page shows. */
export interface DirectoryPageContent {
  /** Canonical path of the directory; ends in `/`. */
  readonly path: string;
  /** The entries in the order in which they are shown. */
  readonly entries: readonly StoredEntry[];
  /** The order they are in. */
  readonly order: ListingOrder;
  /** What the root directory is called: host name and mount path. */
  readonly site: string;
}

const styleHash = createHash("sha256").update(directoryPageStyle).digest("base64");

/** The `Content-Security-Policy` under which the page looks as it should: its own style and nothing else. */
export const directoryPagePolicy: string = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`;

const columns: Record<ListingColumn, { readonly title: string; readonly descendsFirst: boolean }> = {
  name: { title: "Name", descendsFirst: false },
  // Whoever sorts by these looks for the largest, or the newest.
  size: { title: "Size", descendsFirst: true },
  modified: { title: "Modified<span> (UTC)</span>", descendsFirst: true },
};

/**
 * The page of a directory, in pieces. Every link is relative, so the page does not care where the server is mounted, and
 * every name is both escaped and prefixed with `./`, so that none is taken for markup or for a scheme.
 */
export function* directoryPage({ path, entries, order, site }: DirectoryPageContent): Generator<string> {
  const names = [site || "Home", ...path.split("/").filter((segment) => segment !== "")];
  const here = names.at(-1) ?? "";
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(names.toReversed().join(" \u2013 "))}</title>
<style>${directoryPageStyle}</style>
</head>
<body>
<header>
${breadcrumbs(names.slice(0, -1))}<h1><bdi>${escapeHtml(here)}</bdi></h1>
</header>
<main>
`;
  yield* entries.length === 0 ? emptyNote(names.at(-2)) : table(entries, order);
  yield "</main>\n</body>\n</html>\n";
}

/** Links to the directories above; nothing in the root. */
function breadcrumbs(above: readonly string[]): string {
  if (above.length === 0) return "";
  const items = above.map((name, i) => {
    return `<li><a href="${"../".repeat(above.length - i)}">${escapeHtml(name)}</a></li>`;
  });
  return `<nav aria-label="Folders above"><ol>${items.join("")}</ol></nav>\n`;
}

function* emptyNote(parent: string | undefined): Generator<string> {
  yield `<p class="empty">There is nothing in this folder yet.</p>\n`;
  if (parent !== undefined) yield `<p><a href="../">Back to ${escapeHtml(parent)}</a></p>\n`;
}

function* table(entries: readonly StoredEntry[], order: ListingOrder): Generator<string> {
  yield `<table>
<caption>${summary(entries)}</caption>
<thead><tr>${heading("name", order)}${heading("size", order)}${heading("modified", order)}</tr></thead>
<tbody>
`;
  for (const entry of entries) yield row(entry);
  yield "</tbody>\n</table>\n";
}

function heading(column: ListingColumn, order: ListingOrder): string {
  const { title, descendsFirst } = columns[column];
  const isCurrent = column === order.column;
  const descends = isCurrent ? !order.descending : descendsFirst;
  const sorted = isCurrent ? ` aria-sort="${order.descending ? "descending" : "ascending"}"` : "";
  return `<th scope="col"${sorted}><a href="?sort=${column}&amp;order=${descends ? "desc" : "asc"}">${title}</a></th>`;
}

function row({ name, type, size, modified }: StoredEntry): string {
  const slash = type === "directory" ? "/" : "";
  const time = modified.toISOString();
  return (
    `<tr><th scope="row"><a href="./${encodeSegment(name)}${slash}">${escapeHtml(name)}${slash}</a></th>` +
    `<td>${type === "file" ? sizeData(size) : ""}</td>` +
    `<td><time datetime="${time}">${time.slice(0, 10)}<span> ${time.slice(11, 16)}</span></time></td></tr>\n`
  );
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

function summary(entries: readonly StoredEntry[]): string {
  const files = entries.filter((entry) => entry.type === "file").length;
  const parts = [counted(entries.length - files, "folder"), counted(files, "file")];
  return parts.filter((part) => part !== "").join(" and ");
}

function counted(count: number, noun: string): string {
  if (count === 0) return "";
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** A name as one segment of a URL. Half a surrogate pair, which no URL can hold, becomes U+FFFD. */
function encodeSegment(name: string): string {
  return encodeURIComponent(name.replace(/\p{Surrogate}/gu, "\ufffd"));
}
