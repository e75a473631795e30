/** Rows of a group. Browsers lay out groups in view only: watching single rows costs more, thousands save nothing. */
export const rowsOfGroup = 50;

/** What a browser shows in the tab of a page about files: a folder. Without it, one would ask for `/favicon.ico`. */
export const folderIcon: string =
  "<link rel=\"icon\" href=\"data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%2016%2016'%3E" +
  "%3Cpath%20fill='%23c98a1b'%20d='M1%203h5l2%202h7v8H1z'/%3E%3C/svg%3E\">";

/**
 * Rows are not laid out as a table: of a table, a browser cannot leave out anything. There is room from the start for
 * what the module adds, so that nothing jumps.
 */
export const directoryPageStyle: string = `
:root { color-scheme: light dark; scrollbar-gutter: stable; --paper: #fdfcfa; --ink: #22252b; --soft: #646871; --line: #e6e2da; --wash: #f5f1ea; --link: #1f5a8f; --folder: #c98a1b; --edge: #8c857a; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #17191d; --ink: #e6e4df; --soft: #9a9da5; --line: #2c2f36; --wash: #1f2228; --link: #8fc0f0; --folder: #e0ad4e; --edge: #7b7d84; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: clamp(1.25rem, 5vw, 4rem) clamp(1rem, 4vw, 2.5rem); background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; text-underline-offset: .2em; }
a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
h1 { margin: 0; font-size: clamp(1.6rem, 1.2rem + 2vw, 2.4rem); font-weight: 650; line-height: 1.2; letter-spacing: -.02em; overflow-wrap: anywhere; }
nav ol { display: flex; flex-wrap: wrap; margin: 0 0 .35rem; padding: 0; list-style: none; overflow-wrap: anywhere; }
nav li { unicode-bidi: isolate; }
nav li::after { content: "/"; content: "/" / ""; margin: 0 .45em; color: var(--soft); }
main > table, main > table :is(caption, thead, tbody:not([hidden]), tfoot) { display: block; }
main > table { --row: 2.5625rem; margin-top: .35rem; font-variant-numeric: tabular-nums; }
main > table caption { padding-bottom: 1.75rem; color: var(--soft); text-align: start; }
main > table tr:not([hidden]) { display: grid; grid-template-columns: minmax(0, 1fr) 4.5rem 10.5rem var(--acts,); align-items: baseline; }
main > table tr { padding-inline: .75rem var(--end, .75rem); border-bottom: 1px solid var(--line); }
main > table tbody { content-visibility: auto; contain-intrinsic-height: auto calc(${rowsOfGroup} * var(--row)); }
main > table :is(th, td) { padding: .5rem 0; font-weight: inherit; text-align: start; }
main > table td { color: var(--soft); white-space: nowrap; }
main > table td, main > table thead th:not(:first-child) { text-align: end; }
main > table thead tr { border-bottom-color: var(--soft); font-size: .875rem; white-space: nowrap; }
main > table thead th { padding-block: .35rem; }
main > table thead a { color: var(--soft); }
main > table [aria-sort] a { color: var(--ink); font-weight: 600; }
main > table [aria-sort] a::after { content: " \\2193"; content: " \\2193" / ""; }
main > table [aria-sort=ascending] a::after { content: " \\2191"; content: " \\2191" / ""; }
main > table tbody tr:hover { background: var(--wash); }
main > table tbody a { display: block; position: relative; padding-left: 1.7rem; unicode-bidi: isolate; overflow-wrap: anywhere; white-space: pre-wrap; }
main > table tbody a::before { content: ""; position: absolute; left: 0; top: .22em; width: 1.05rem; height: 1.05rem; background: var(--soft); mask: var(--icon) center / contain no-repeat; }
main > table tbody .folder::before { background: var(--folder); }
.folder { --icon: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M1 3h5l2 2h7v8H1z'/%3E%3C/svg%3E"); }
.other { --icon: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M3 1h7l3 3v11H3z'/%3E%3C/svg%3E"); }
.text { --icon: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill-rule='evenodd' d='M3 1h7l3 3v11H3zm2 5v1h6V6zm0 3v1h6V9zm0 3v1h4v-1z'/%3E%3C/svg%3E"); }
.page { --icon: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill-rule='evenodd' d='M1 2h14v12H1zm1 3v8h12V5zm4.5 2L4.5 9l2 2-.8.8L3 9l2.7-2.8zm3 0 .8-.8L13 9l-2.7 2.8-.8-.8 2-2z'/%3E%3C/svg%3E"); }
.image { --icon: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill-rule='evenodd' d='M1 2h14v12H1zm1.5 9.5h11L10 6l-3 4-1.5-1.5zM5 4.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z'/%3E%3C/svg%3E"); }
.audio { --icon: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M6 2l8-1v10.5a2.5 2 0 1 1-1.5-1.8V4L7.5 4.7v8.3A2.5 2 0 1 1 6 11.2z'/%3E%3C/svg%3E"); }
.video { --icon: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill-rule='evenodd' d='M1 2h14v12H1zm5 3v6l5-3z'/%3E%3C/svg%3E"); }
.pdf { --icon: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill-rule='evenodd' d='M3 1h7l3 3v11H3zm2 7v5h1v-2h1.5a1.5 1.5 0 0 0 0-3zm1 1h1.3v1H6z'/%3E%3C/svg%3E"); }
.archive { --icon: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill-rule='evenodd' d='M2 2h12v12H2zm5 0v2h1V3h1V2zm0 3v2h1V6h1V5H8zm0 3v3h2V8z'/%3E%3C/svg%3E"); }
main > table tfoot tr { border-bottom: 0; color: var(--soft); font-size: .875rem; }
.pages { display: flex; gap: 1.5rem; margin: .5rem 0; }
.user { margin: .75rem 0 0; color: var(--soft); }
:is(.bar, .selection:not([hidden])) { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 1.25rem 0; }
.bar .find { display: flex; flex: 1 1 12rem; gap: .5rem; align-items: center; }
.bar a { padding: .2rem .7rem; border: 1px solid var(--edge); border-radius: 6px; color: inherit; white-space: nowrap; }
:is(button, .bar a):hover { border-color: var(--link); color: var(--link); text-decoration: none; }
input[type=search] { flex: 1 1 12rem; min-width: 0; padding: .3rem .6rem; border: 1px solid var(--edge); border-radius: 6px; background: var(--paper); color: inherit; font: inherit; }
.empty { margin-top: 2rem; color: var(--soft); }
[data-history] { --buttons: 20.5rem; }
@media (scripting: enabled) {
  main > table:has(tbody :is([data-may], .text, .image, .audio, .video, .pdf)) { --acts: var(--buttons, 17rem); --end: 0; --below: 2.125rem; }
}
@media (forced-colors: active) {
  main > table tbody a::before { background: LinkText; forced-color-adjust: none; }
}
@media (max-width: 34rem) {
  main > table tr:not([hidden]) { grid-template-columns: minmax(0, 1fr) 4rem 5.75rem; }
  main > table { --row: 2.8125rem; }
  main > table tbody tr:not(:has(.acts)) { padding-bottom: var(--below, 0); }
  main > table tr { padding-inline: 0; }
  main > table tbody :is(th, td) { padding-block: .625rem; }
  main > table td { font-size: .875rem; }
  main > table th span { display: none; }
  main > table time { display: block; height: 1.5em; overflow: clip; white-space: normal; }
}
`;
