/** The style of a listing: no picture, font or script from anywhere, so that the page needs one request. */
export const directoryPageStyle: string = `
:root { color-scheme: light dark; --paper: #fdfcfa; --ink: #22252b; --soft: #646871; --line: #e6e2da; --wash: #f5f1ea; --link: #1f5a8f; --folder: #c98a1b; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #17191d; --ink: #e6e4df; --soft: #9a9da5; --line: #2c2f36; --wash: #1f2228; --link: #8fc0f0; --folder: #e0ad4e; }
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
table { width: 100%; margin-top: .35rem; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { padding-bottom: 1.75rem; color: var(--soft); text-align: start; }
th { font-weight: inherit; text-align: start; }
th, td { padding: .5rem 0 .5rem 1.5rem; border-bottom: 1px solid var(--line); vertical-align: baseline; }
th:first-child { padding-left: .75rem; }
td:last-child, thead th:last-child { padding-right: .75rem; }
td { color: var(--soft); white-space: nowrap; }
td, thead th:not(:first-child) { width: 1%; text-align: end; }
thead th { padding-block: .35rem; border-bottom-color: var(--soft); font-size: .875rem; white-space: nowrap; }
thead a { color: var(--soft); }
[aria-sort] a { color: var(--ink); font-weight: 600; }
[aria-sort] a::after { content: " \\2193"; content: " \\2193" / ""; }
[aria-sort=ascending] a::after { content: " \\2191"; content: " \\2191" / ""; }
tbody tr:hover { background: var(--wash); }
tbody a { display: block; position: relative; padding-left: 1.7rem; unicode-bidi: isolate; overflow-wrap: anywhere; white-space: pre-wrap; }
tbody a::before { content: ""; position: absolute; left: .1rem; top: .22em; width: .85rem; height: 1.05rem; background: var(--soft); opacity: .45; clip-path: polygon(0 0, 62% 0, 100% 32%, 100% 100%, 0 100%); border-radius: 2px; }
tbody a[href$="/"]::before { left: 0; top: .28em; width: 1.1rem; height: .9rem; background: var(--folder); opacity: 1; clip-path: polygon(0 0, 40% 0, 52% 18%, 100% 18%, 100% 100%, 0 100%); }
.pages { display: flex; gap: 1.5rem; margin: .5rem 0; }
.empty { margin-top: 2rem; color: var(--soft); }
@media (max-width: 34rem) {
  th, td { padding-left: .75rem; }
  th:first-child { padding-left: 0; }
  td:last-child, thead th:last-child { padding-right: 0; }
  td { font-size: .875rem; }
  time span, th span { display: none; }
}
`;
