/** An entry of the listing, with its row. */
export interface Entry {
  readonly row: HTMLTableRowElement;
  readonly link: HTMLAnchorElement;
  readonly name: string;
  /** What its picture says: `folder`, `text`, `image`... */
  readonly kind: string;
  /** Size of a file, in bytes. */
  readonly size: number;
  /** Whether this user may change it, and delete it. */
  readonly mayWrite: boolean;
  readonly mayDelete: boolean;
  /** Entity tag of the file when it was listed. */
  readonly tag: string | undefined;
}

const rows = "main > table > tbody > tr"; // a README may have tables of its own

let entries: readonly Entry[] | undefined;

/** The entries of the listing, in order, whether they are shown or not. Read once: there may be thousands. */
export function allEntries(): readonly Entry[] {
  entries ??= [...document.querySelectorAll<HTMLTableRowElement>(rows)].map(entryOf);
  return entries;
}

/** The entries that are shown, in order. */
export function entriesShown(): Entry[] {
  return allEntries().filter(({ row }) => !row.hidden);
}

/** The entry of the row in which something is. */
export function entryAround(element: Element): Entry | undefined {
  const row = element.closest<HTMLTableRowElement>(rows);
  return row ? allEntries().find((entry) => entry.row === row) : undefined;
}

const reasonsToStay: Array<() => boolean> = [];
addEventListener("beforeunload", (event) => {
  if (reasonsToStay.some((holds) => holds())) event.preventDefault();
});

/** Has the browser ask before the page is left, as long as something holds. */
export function stayWhile(holds: () => boolean): void {
  reasonsToStay.push(holds);
}

const reasonsToHide: Array<(entry: Entry) => boolean> = [];

/** Hides entries, in this listing and in each later one, as long as something holds of them. */
export function hideWhere(holds: (entry: Entry) => boolean): void {
  reasonsToHide.push(holds);
}

/** Looks again which entries are to be shown. */
export function showEntries(): void {
  const shown = new Map(rowGroups().map((group) => [group, 0]));
  for (const entry of allEntries()) {
    const isHidden = reasonsToHide.some((holds) => holds(entry));
    if (entry.row.hidden !== isHidden) entry.row.hidden = isHidden;
    const group = entry.row.parentElement as HTMLTableSectionElement;
    if (!isHidden) shown.set(group, (shown.get(group) ?? 0) + 1);
  }
  for (const [group, count] of shown) {
    if (group.hidden !== (count === 0)) group.hidden = count === 0;
    // How high a group is that is not laid out: what the style says goes for whole ones.
    group.style.containIntrinsicHeight = count === group.rows.length ? "" : `calc(${count} * var(--row))`;
  }
}

/** The groups in which the rows of the listing are. */
export function rowGroups(): HTMLTableSectionElement[] {
  return [...document.querySelectorAll<HTMLTableSectionElement>("main > table > tbody")];
}

function entryOf(row: HTMLTableRowElement): Entry {
  const link = row.querySelector("a") as HTMLAnchorElement;
  const may = row.dataset["may"]?.split(" ") ?? [];
  return {
    row,
    link,
    name: decodeURIComponent(new URL(link.href).pathname.replace(/\/$/, "").replace(/^.*\//, "")),
    kind: link.className,
    size: Number(row.querySelector("data")?.value ?? 0),
    mayWrite: may.includes("write"),
    mayDelete: may.includes("delete"),
    tag: row.dataset["tag"],
  };
}

/** The address of a file in this folder, by its path from here. */
export function addressOf(path: string): string {
  const segments = path.split("/").map((segment) => encodeURIComponent(segment));
  return new URL(`./${segments.join("/")}`, location.href.replace(/[?#].*/s, "")).href;
}

/** Makes an element with properties and content. */
export function made<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...content);
  return element;
}

/** Makes a button. */
export function button(text: string, press: () => unknown, className = ""): HTMLButtonElement {
  const element = made("button", { type: "button", className }, text);
  element.addEventListener("click", press);
  return element;
}

/** Makes a line that is read aloud when its text changes. It has to be on the page before it has text. */
export function statusLine(): HTMLElement {
  const line = made("p", { className: "note" });
  line.setAttribute("role", "status");
  return line;
}

/** Text with a name in it, whose characters that control the direction of text are shown by their number, as in the table. */
export function withControlsShown(text: string): string {
  return text.replace(/\p{Bidi_Control}/gu, (control) => {
    return `[U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}

/** Where the page says what has happened. */
export const noteLine: HTMLElement = statusLine();

/** Says something above the listing. */
export function say(text: string): void {
  noteLine.textContent = withControlsShown(text);
}

/** Opens a dialog with a heading; it is gone when it is closed. */
export function openDialog(heading: string, ...content: readonly (Node | string)[]): HTMLDialogElement {
  const title = made("h2", { id: "dialog-title", tabIndex: -1, autofocus: true }, withControlsShown(heading));
  const dialog = made("dialog", {}, title, ...content);
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** What the server says of a request that it refused. */
export async function reasonOf(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined); // a proxy's error is a page
  return reasonIn(response.status, body);
}

/** What the server says in the body of a refusal. */
export function reasonIn(status: number, body: unknown): string {
  if (status === 401) return "You would have to sign in first.";
  const { details } = (body ?? {}) as { details?: unknown };
  return typeof details === "string" ? details : `The server answered with ${status}.`;
}

/** Fetches the listing again, and shows it in place of the old one. Listeners of `document` hear "listing" after it. */
export async function refresh(): Promise<void> {
  const response = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => undefined);
  if (!response?.ok) return say("The listing could not be read again.");
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const focused = document.activeElement?.closest("main") ? entryAround(document.activeElement)?.name : undefined;
  document.querySelector("main")?.replaceWith(page.querySelector("main") ?? "");
  entries = undefined;
  showEntries();
  document.dispatchEvent(new Event("listing"));
  allEntries()
    .find(({ name }) => name === focused)
    ?.link.focus();
}
