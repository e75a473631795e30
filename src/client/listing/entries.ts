import { fetchOk, PageError } from "../send.ts";

export interface Entry {
  readonly row: HTMLTableRowElement;
  readonly link: HTMLAnchorElement;
  /** Of what a search has found, the path from here. */
  readonly name: string;
  /** What its picture says: `folder`, `text`, `image`... */
  readonly kind: string;
  readonly size: number;
  /** What there is for this user to do with it: `write`, `move`, `delete`, `history`. */
  readonly may: readonly string[];
  readonly tag: string | undefined;
}

let entries: readonly Entry[] | undefined;

/** The entries of the listing, in order, whether they are shown or not. Read once: there may be thousands. */
export function allEntries(): readonly Entry[] {
  entries ??= rowGroups().flatMap(({ rows }) => [...rows].map(entryOf));
  return entries;
}

export function entriesShown(): Entry[] {
  return allEntries().filter(({ row }) => !row.hidden);
}

/** Not those of tables in a README. */
export function rowGroups(): HTMLTableSectionElement[] {
  return [...document.querySelectorAll<HTMLTableSectionElement>("main > table > tbody")];
}

function entryOf(row: HTMLTableRowElement): Entry {
  const link = row.querySelector("a") as HTMLAnchorElement;
  return {
    row,
    link,
    name: decodeURIComponent(link.pathname.slice(new URL("./", location.href).pathname.length).replace(/\/$/, "")),
    kind: link.className,
    size: Number(row.querySelector("data")?.value ?? 0),
    may: row.dataset["may"]?.split(" ") ?? [],
    tag: row.dataset["tag"],
  };
}

export function addressOf(path: string): string {
  return new URL(`./${encoded(path)}`, location.href).href;
}

export function encoded(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

export function made<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...content);
  return element;
}

export function button(text: string, press: (event: Event) => unknown, className = ""): HTMLButtonElement {
  const element = made("button", { type: "button", className }, text);
  element.addEventListener("click", press);
  return element;
}

/** Text with a name in it; characters that control the direction of text are shown by number, as in the table. */
export function withControlsShown(text: string): string {
  return text.replace(/\p{Bidi_Control}/gu, (control) => {
    return `[U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}

/** Where the page says what has happened: read aloud when its text changes, for which it has to be there before. */
export const noteLine: HTMLElement = made("p", { className: "note", role: "status" });

export function say(text: string): void {
  noteLine.textContent = withControlsShown(text);
}

export function reasonOf(error: unknown): string {
  return error instanceof PageError ? error.details : String(error);
}

export function openDialog(heading: string, ...content: readonly (Node | string)[]): HTMLDialogElement {
  const title = made("h2", { id: "dialog-title", tabIndex: -1, autofocus: true }, withControlsShown(heading));
  const dialog = made("dialog", {}, title, ...content);
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Fetches the listing again, and shows it in place of the old one. Listeners of `document` hear "listing" after it. */
export async function refresh(): Promise<void> {
  const headers = { accept: "text/html" };
  const response = await fetchOk(location.href, { headers }).catch((error) => say(reasonOf(error)));
  if (!response) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const shown = entriesShown();
  const at = shown.findIndex(({ row }) => row.contains(document.activeElement));
  document.querySelector("main")?.replaceWith(page.querySelector("main") ?? "");
  entries = undefined;
  document.dispatchEvent(new Event("listing"));
  if (at < 0) return;
  const now = entriesShown();
  (now.find(({ name }) => name === shown[at]?.name) ?? now[at] ?? now.at(-1))?.link.focus();
}
