import { addressOf, button, type Entry, made, openDialog, reasonOf, refresh, say, send } from "./entries.ts";

/** Largest text that is edited here, in bytes. */
const largestText = 1_000_000;

/** Whether the open dialog has text that is not saved. */
let isUnsaved = (): boolean => false;
addEventListener("beforeunload", (event) => isUnsaved() && event.preventDefault());

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
  const name = prompt("Name of the new file")?.trim();
  if (name) openEditor(name, addressOf(name), "", { "if-none-match": "*" });
}

/** Edits a text file where it lies. */
export async function edit({ name, link }: Entry): Promise<void> {
  const found = await read(link.href);
  if ("reason" in found) return say(found.reason);
  if (found.text === undefined) return say(notText);
  if (document.querySelector("dialog")) return; // it was a double click
  openEditor(name, link.href, found.text, { "if-match": found.tag });
}

const notText = "This is not text in UTF-8.";

interface Found {
  /** Nothing where it is not text in UTF-8. */
  readonly text: string | undefined;
  readonly tag: string;
}

/** What a file has in it; or why that cannot be known. */
async function read(address: string): Promise<Found | { readonly reason: string; readonly isGone: boolean }> {
  const response = await send(address, { cache: "no-store" });
  if (!response?.ok) return { reason: await reasonOf(response), isGone: response?.status === 404 };
  const bytes = await response.arrayBuffer().catch(() => undefined);
  if (!bytes) return { reason: await reasonOf(undefined), isGone: false };
  const tag = response.headers.get("etag")?.replace(/^W\//, "") ?? "*";
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), tag };
  } catch {
    return { text: undefined, tag };
  }
}

/** Edits a text in a dialog, which asks before it throws away what was typed. `condition` is that of the first save. */
function openEditor(name: string, address: string, before: string, condition: Record<string, string>): void {
  const area = made("textarea", { defaultValue: before, spellcheck: false, ariaLabel: "Content" });
  const shown = area.value;
  const theirs = made("textarea", { readOnly: true });
  const sides = made("div", { className: "sides" }, area);
  const problem = made("p", { className: "note", role: "alert" });
  const dialog = openDialog(name, sides, problem);
  isUnsaved = () => area.value !== shown;
  dialog.addEventListener("close", () => {
    isUnsaved = () => false;
  });

  let expected = condition;
  const save = async (): Promise<void> => {
    if (area.readOnly) return;
    area.readOnly = true; // what was typed now would not be in the file
    // A field has only line feeds, whatever the file has.
    const text = before.includes("\r\n") ? area.value.replace(/\n/g, "\r\n") : area.value;
    const response = await send(address, { method: "PUT", headers: expected, body: new Blob([text]) });
    if (response?.ok) {
      dialog.close();
      await refresh();
      return say(`${name} is saved.`); // later than the dialog: nothing behind it is read aloud
    }
    const reason = response?.status === 412 ? await showTheirs() : await reasonOf(response);
    problem.textContent = `${reason} Your text is still here.`;
    area.readOnly = false;
  };

  /** Shows what others have made of the file meanwhile, which the next save replaces. */
  const showTheirs = async (): Promise<string> => {
    const found = await read(address);
    if ("reason" in found && !found.isGone) return found.reason;
    expected = "tag" in found ? { "if-match": found.tag } : { "if-none-match": "*" };
    if (!("tag" in found)) return "The file was deleted meanwhile. Save makes it again.";
    theirs.value = found.text ?? notText;
    sides.append(made("label", {}, "Theirs", theirs));
    return "The file was changed meanwhile, as shown here. Save replaces it by your text.";
  };

  const leave = (event: Event): void => {
    event.preventDefault();
    if (!isUnsaved() || confirm("Close without saving?")) dialog.close();
  };
  dialog.addEventListener("cancel", leave);
  dialog.addEventListener("keydown", (event) => {
    // A second Escape closes a dialog whatever its event "cancel" is answered with.
    if (event.key === "Escape") leave(event);
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    save();
  });
  dialog.append(made("menu", {}, button("Save", save, "main"), button("Cancel", leave)));
  area.focus();
}
