const style = `
button, textarea { font: inherit; color: inherit; }
button { padding: .2rem .7rem; border: 1px solid var(--edge); border-radius: 6px; background: var(--paper); cursor: pointer; white-space: nowrap; }
button.main { border-color: var(--link); background: var(--link); color: var(--paper); }
:is(button, input, textarea, summary):focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
textarea { padding: .3rem .6rem; border: 1px solid var(--edge); border-radius: 6px; background: var(--paper); }
.note { min-height: 1.5em; margin: .5rem 0; color: var(--soft); }
.note:empty { min-height: 0; margin: 0; }
main > table.acting { --acts: var(--buttons, 17rem); --end: 0; }
.acts { align-self: center; }
.acts span { display: flex; align-items: center; justify-content: end; }
.acts input { width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--link); }
.acts button { min-height: 1.5rem; padding: .05rem .5rem; line-height: 1.2; border-color: transparent; background: none; font-size: .875rem; }
.uploads ul { margin: 0; padding: 0; list-style: none; }
.uploads li { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; padding: .35rem 0; border-bottom: 1px solid var(--line); }
.uploads li > :first-child { flex: 1 1 10rem; overflow-wrap: anywhere; unicode-bidi: isolate; }
progress { width: 8rem; accent-color: var(--link); }
html.dropping { min-height: 100vh; outline: 3px dashed var(--link); outline-offset: -8px; }
dialog { width: min(60rem, 100vw - 2rem); max-height: calc(100vh - 2rem); padding: 1.25rem; border: 1px solid var(--edge); border-radius: 10px; background: var(--paper); color: var(--ink); }
dialog::backdrop { background: rgb(0 0 0 / .45); }
dialog h2:focus-visible { outline: none; }
dialog > h2 { margin: 0 0 1rem; font-size: 1.15rem; overflow-wrap: anywhere; }
dialog textarea, dialog .text > pre:first-child { display: block; width: 100%; min-height: 45vh; max-height: 65vh; overflow: auto; font: .875rem/1.5 ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
dialog :is(img, video) { display: block; max-width: 100%; max-height: 70vh; margin: 0 auto; }
dialog iframe { width: 100%; height: 70vh; border: 0; background: #fff; }
dialog menu { position: sticky; bottom: -1.25rem; display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .25rem 0 -1.25rem; padding: .75rem 0 1.25rem; background: var(--paper); }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 1rem; }
.text { overflow-wrap: anywhere; }
.text pre { margin: 0; padding: .75rem 1rem; border-radius: 6px; background: var(--wash); white-space: pre-wrap; }
.text table { border-collapse: collapse; }
.text :is(th, td) { padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); text-align: start; vertical-align: top; }
.text a { text-decoration: underline; text-underline-offset: .2em; }
.text img { max-width: 100%; }
.readme { margin-top: 2.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
.readme > h2 { margin: 0 0 .75rem; color: var(--soft); font-size: 1rem; font-weight: 400; }
@media (max-width: 34rem) {
  main > table.acting { --row: 4.9375rem; }
  main > table td.acts { grid-column: 1 / -1; padding-top: 0; }
  main > table :is(thead, tfoot) .acts { display: none; }
}
`;

/** Gives the page this style, which its policy does not keep from scripts of its own. */
export function addStyle(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets.push(sheet);
}
