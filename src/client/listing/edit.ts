import { addressOf, button, type Entry, made, openDialog, reasonOf, refresh, say } from "./entries.ts";

/** Largest text that is edited here, in bytes. */
const largestText = 1_000_000;

/** Whether a file can be edited as text. */
export function isEditable({ kind, name, size, mayWrite }: Entry): boolean {
  return (
    mayWrite &&
    size <= largestText &&
    (["text", "page"].includes(kind) || /^[^.]+$|\.(?:md|svg|log|conf|ini)$/i.test(name))
  );
}

/** Asks for a name, and edits a file that is not there yet. */
export function newFile(): void {
  const field = made("input", { required: true, autocomplete: "off" });
  const form = made("form", { method: "dialog" }, made("label", {}, "Name ", field));
  form.append(made("menu", {}, made("button", { className: "main" }, "Write it")));
  const dialog = openDialog("New file", form);
  form.addEventListener("submit", () => {
    const name = field.value.trim();
    if (name !== "") openEditor(name, addressOf(name), "", { "if-none-match": "*" });
  });
  dialog.addEventListener("cancel", () => {});
}

/** Edits a text file where it lies. */
export async function edit({ name, link }: Entry): Promise<void> {
  const found = await read(link.href);
  if (typeof found === "string") return say(found);
  openEditor(name, link.href, found.text, { "if-match": found.tag });
}

interface Found {
  readonly text: string;
  readonly tag: string;
}

/** What a file has in it; or why it cannot be edited. */
async function read(address: string): Promise<Found | string> {
  const response = await fetch(address, { cache: "no-store" }).catch(() => undefined);
  if (!response) return "The server cannot be reached.";
  if (!response.ok) return reasonOf(response);
  try {
    const bytes = await response.arrayBuffer();
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, tag: response.headers.get("etag")?.replace(/^W\//, "") ?? "*" };
  } catch {
    return "This is not text in UTF-8.";
  }
}

function openEditor(name: string, address: string, before: string, condition: Record<string, string>): void {
  const area = textArea("Content", before);
  const problem = made("p", { className: "note" });
  problem.setAttribute("role", "alert");
  const dialog = openDialog(name, area, problem);
  const save = async (): Promise<void> => {
    const text = withLineBreaksOf(before, area.value);
    const response = await write(address, text, condition);
    if (response?.ok) {
      dialog.close();
      await refresh();
      say(`${name} is saved.`); // later than the dialog: nothing behind it is read aloud
    } else if (response?.status === 412) {
      dialog.close();
      await askWhose(name, address, text);
    } else
      problem.textContent = response
        ? await reasonOf(response)
        : "The server cannot be reached. Your text is still here.";
  };
  dialog.append(
    made(
      "menu",
      {},
      button("Save", save, "main"),
      button("Cancel", () => dialog.close()),
    ),
  );
  // Escape asks before it throws away what was typed.
  dialog.addEventListener("cancel", (event) => {
    if (area.value !== area.defaultValue && !confirm("Close without saving?")) event.preventDefault();
  });
  area.focus();
}

/** Somebody else has changed the file, or has made one of that name: shows both texts. */
async function askWhose(name: string, address: string, mine: string): Promise<void> {
  const theirs = await read(address);
  if (typeof theirs === "string") {
    say(theirs);
    return openEditor(name, address, mine, { "if-none-match": "*" });
  }
  const [own, other] = [textArea("Yours", mine), textArea("Theirs", theirs.text)];
  other.readOnly = true;
  const sides = made(
    "div",
    { className: "sides" },
    made("label", {}, "Yours", own),
    made("label", {}, "Theirs", other),
  );
  const dialog = openDialog(`Somebody has changed ${name} meanwhile.`, sides);
  const keepMine = async (): Promise<void> => {
    dialog.close();
    const text = withLineBreaksOf(mine, own.value);
    const response = await write(address, text, { "if-match": theirs.tag });
    if (response?.status === 412) return askWhose(name, address, text);
    if (!response?.ok) {
      say(response ? await reasonOf(response) : "The server cannot be reached.");
      return openEditor(name, address, text, { "if-match": theirs.tag });
    }
    await refresh();
    say(`${name} is saved.`);
  };
  const menu = made(
    "menu",
    {},
    button("Keep mine", keepMine, "main"),
    button("Take theirs", () => dialog.close()),
  );
  dialog.append(menu);
}

async function write(address: string, text: string, condition: Record<string, string>): Promise<Response | undefined> {
  return fetch(address, { method: "PUT", headers: condition, body: new Blob([text]) }).catch(() => undefined);
}

function textArea(label: string, text: string): HTMLTextAreaElement {
  const area = made("textarea", { defaultValue: text, spellcheck: false });
  area.setAttribute("aria-label", label);
  return area;
}

/** A field has only line feeds, whatever the file has. */
function withLineBreaksOf(before: string, text: string): string {
  return before.includes("\r\n") ? text.replace(/\r?\n/g, "\r\n") : text;
}
