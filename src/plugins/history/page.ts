import { directoryPageStyle, folderIcon } from "../../files/directory-page-style.ts";
import { escapeHtml } from "../../http/escape-html.ts";
import { encodePath } from "../../http/request-target.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { FileHistory, Version, VersionList } from "../../server/file-history.ts";
import { htmlPage } from "../../server/html-page.ts";
import type { Difference } from "./versions.ts";

/** Changed lines that a page shows. */
const mostRows = 2000;

const style = `${directoryPageStyle}
ol.versions { margin: 1.5rem 0; padding: 0; list-style: none; }
ol.versions li { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; padding: .6rem 0; border-bottom: 1px solid var(--line); }
ol.versions .what { flex: 1 1 20rem; overflow-wrap: anywhere; }
.soft, time { color: var(--soft); font-variant-numeric: tabular-nums; }
button { font: inherit; min-height: 2.75rem; padding: .3rem .9rem; border: 1px solid var(--edge); border-radius: .4rem; background: var(--wash); color: var(--ink); cursor: pointer; }
button:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
section { margin-top: 2.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
h2 { margin: 0; font-size: 1.15rem; }
form { margin-top: 1rem; }
.changes { width: 100%; margin-top: 1rem; border-collapse: collapse; table-layout: fixed; font: .875rem/1.5 ui-monospace, monospace; }
.changes td, .changes th { padding: .1rem .5rem; text-align: start; vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere; }
.changes caption { padding-bottom: .75rem; color: var(--soft); text-align: start; }
.changes .line { width: 3.5rem; }
.changes ins, .changes del { text-decoration: none; }
.changes .was { background: #fbe9e7; } .changes .is { background: #e6f4ea; }
@media (prefers-color-scheme: dark) { .changes .was { background: #3b2220; } .changes .is { background: #1d3324; } }
`;

/** The policy of the pages: their own style and icon, and forms that lead here. */
export const historyPolicy: string = [
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'",
  "form-action 'self'; base-uri 'none'; frame-ancestors 'self'",
].join("; ");

/** Where the pages of a history are, as links from a browser. */
export interface Links {
  /** Of the page itself. */
  file(path: string): string;
  /** Of its versions, or of one of them. */
  history(path: string, commit?: string, more?: string): string;
}

/** Links for the client of a request; `base` is the path of the plugin. */
export function linksFor({ mount }: Exchange, { base }: Pick<FileHistory, "base">): Links {
  return {
    file: (path) => mount + encodePath(path),
    history: (path, commit, more) =>
      mount + encodePath(base.slice(0, -1) + path) + (commit === undefined ? "" : `/${commit}${more ?? ""}`),
  };
}

export function versionsPage(path: string | undefined, { versions, next }: VersionList, links: Links): string {
  const title = path === undefined ? "Latest changes" : `History of ${path}`;
  const items = versions.map((version) => {
    const { commit, time, user, summary, size } = version;
    const moment = time.toISOString();
    const content =
      size === undefined
        ? `<span class="soft">deleted</span>`
        : `<a href="${escapeHtml(links.history(version.path, commit))}">${size.toLocaleString("en")} bytes</a>`;
    const by = user === undefined ? "" : ` <span class="soft">by ${escapeHtml(user)}</span>`;
    return `<li><time datetime="${moment}">${moment.slice(0, 19).replace("T", " ")}</time> <span class="what"><a href="${escapeHtml(links.history(version.path, commit, "/changes"))}">${escapeHtml(summary)}</a>${by}</span> ${content}</li>`;
  });
  const list = items.length > 0 ? `<ol class="versions">\n${items.join("\n")}\n</ol>` : "<p>There is nothing yet.</p>";
  const back = path === undefined ? "" : `<p><a href="${escapeHtml(links.file(path))}">The file as it is</a></p>`;
  const on = next === undefined ? "" : `<p><a href="?after=${next}" rel="next">Older versions</a></p>`;
  return htmlPage(title, style, `<h1>${escapeHtml(title)}</h1>\n${back}\n${list}\n${on}`, folderIcon);
}

/** What undoing would make of the file as it is. */
export interface Undo {
  readonly how: "without" | "as";
  /** `"conflict"`: it cannot be undone. */
  readonly outcome: "conflict" | "same" | "deleted" | "changed";
  /** Changed lines, without lines around. */
  readonly diff: Difference;
}

/** What one change did, and what each way to undo it would do; `etag` is the tag of the file as it is. */
export function changesPage(
  version: Version,
  diff: Difference,
  { undoes, etag }: { readonly undoes: readonly Undo[]; readonly etag: string | undefined },
  links: Links,
): string {
  const { path, summary, time, user, selector } = version;
  const head = `<h1>${escapeHtml(summary)}</h1>
<p class="soft">${time.toISOString().slice(0, 19).replace("T", " ")} UTC${user === undefined ? "" : ` by ${escapeHtml(user)}`}${selector === undefined ? "" : `, elements <code>${escapeHtml(selector)}</code>`}</p>
<p><a href="${escapeHtml(links.history(path))}">All versions of ${escapeHtml(path)}</a></p>`;
  const parts = undoes.map((undo) => undoPart(undo, links.history(path, version.commit), etag));
  const change = table(diff, "Lines that changed", ["Before", "After"]) || "<p>No line changed.</p>";
  return htmlPage(`${summary}: changes`, style, [head, change, ...parts].join("\n"), folderIcon);
}

/** A button, a form with the entity tag of the file as it is, below the lines that one gets. */
function undoPart({ how, outcome, diff }: Undo, address: string, etag: string | undefined): string {
  const title = how === "as" ? "Go back to this version" : "Undo this change";
  const action = escapeHtml(how === "as" ? `${address}?to` : address);
  const tag = etag === undefined ? "" : `<input type="hidden" name="if-match" value="${escapeHtml(etag)}">`;
  const mayUndo = outcome === "deleted" || outcome === "changed";
  const form = mayUndo ? `<form method="post" action="${action}">${tag}<button>${title}</button></form>` : "";
  const lines = table(diff, "What you get", ["Now", "After"]);
  const words = lines === "" && outcome === "changed" ? "The file is not text: it cannot be shown." : outcomes[outcome];
  return `<section class="${how}"><h2>${title}</h2>\n<p>${words}</p>${lines}${form}</section>`;
}

const outcomes: Record<Undo["outcome"], string> = {
  conflict: "The same lines were changed again since: it does not fit any more.",
  same: "The file is like that now.",
  deleted: "This deletes the file.",
  changed: "No other line changes.",
};

/** The lines of a unified diff side by side; `""` for an empty diff. */
function table({ text, isCut }: Difference, caption: string, [left, right]: readonly [string, string]): string {
  const cell = (name: string, tag: string, text: string | undefined, line: number): string =>
    text === undefined
      ? "<td></td><td></td>"
      : `<td class="soft">${line}</td><td class="${name}"><${tag}>${escapeHtml(text) || " "}</${tag}></td>`;
  const rows = text.split(/^(?=@@ )/m).flatMap((group) => {
    const [head = "", ...lines] = group.split("\n");
    const [, old, now] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(head) ?? [];
    const marked = (mark: string) => lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(1));
    const [was, is] = [marked("-"), marked("+")];
    return Array.from({ length: Math.min(mostRows + 1, Math.max(was.length, is.length)) }, (_, i) => {
      return `<tr>${cell("was", "del", was[i], Number(old) + i)}${cell("is", "ins", is[i], Number(now) + i)}</tr>`;
    });
  });
  const more = isCut || rows.length > mostRows ? "<p>More lines changed than are shown here.</p>" : "";
  if (rows.length === 0) return more;
  const line = '<th scope="col">Line</th>';
  return `<div><table class="changes"><caption>${caption}</caption><colgroup><col class="line"><col><col class="line"><col></colgroup><thead><tr>${line}<th scope="col">${left}</th>${line}<th scope="col">${right}</th></tr></thead><tbody>\n${rows.slice(0, mostRows).join("\n")}\n</tbody></table>${more}</div>`;
}
