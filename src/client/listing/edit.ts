import { addressOf, button, type Entry, made, openDialog, reasonOf, refresh, say, stayWhile } from "./entries.ts";

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
  if ("reason" in found) return say(found.reason);
  if (found.text === undefined) return say(notText);
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
  const response = await fetch(address, { cache: "no-store" }).catch(() => undefined);
  if (!response?.ok) return { reason: await whyNot(response), isGone: response?.status === 404 };
  const bytes = await response.arrayBuffer().catch(() => undefined);
  if (!bytes) return { reason: await whyNot(undefined), isGone: false };
  const tag = response.headers.get("etag")?.replace(/^W\//, "") ?? "*";
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), tag };
  } catch {
    return { text: undefined, tag };
  }
}

async function whyNot(response: Response | undefined): Promise<string> {
  return response ? reasonOf(response) : "The server cannot be reached.";
}

function openEditor(name: string, address: string, before: string, condition: Record<string, string>): void {
  const area = textArea("Content", before);
  const shown = area.value;
  const isTyped = (): boolean => area.value !== shown;
  const { menu, leave } = openUnsaved(name, area, [area], isTyped, { name, address, condition }, "Save");
  menu.append(button("Cancel", leave));
  area.focus();
}

/** Somebody else has changed the file, or has made one of that name: shows both texts. */
function askWhose(name: string, address: string, mine: string, theirs: Found): void {
  const [own, other] = [textArea("Yours", mine), textArea("Theirs", theirs.text ?? notText)];
  other.readOnly = true;
  const sides = made(
    "div",
    { className: "sides" },
    made("label", {}, "Yours", own),
    made("label", {}, "Theirs", other),
  );
  const target = { name, address, condition: { "if-match": theirs.tag } };
  const heading = `Somebody has changed ${name} meanwhile.`;
  const { dialog, menu } = openUnsaved(heading, own, [sides], () => true, target, "Keep mine");
  menu.append(button("Take theirs", () => dialog.close()));
}

/** Where a text is to be saved, and what must hold of what is there. */
interface Target {
  readonly name: string;
  readonly address: string;
  readonly condition: Record<string, string>;
}

/** Whether each open dialog has text that is not saved. */
const unsaved = new Map<HTMLDialogElement, () => boolean>();
stayWhile(() => [...unsaved.values()].some((isUnsaved) => isUnsaved()));

/** Opens a dialog with a button that saves. `leave`, as Escape, asks before it throws away what was typed. */
function openUnsaved(
  heading: string,
  area: HTMLTextAreaElement,
  content: readonly Node[],
  isUnsaved: () => boolean,
  { name, address, condition }: Target,
  saveText: string,
): { dialog: HTMLDialogElement; menu: HTMLElement; leave: () => void } {
  const problem = made("p", { className: "note" });
  problem.setAttribute("role", "alert");
  const dialog = openDialog(heading, ...content, problem);
  unsaved.set(dialog, isUnsaved);
  dialog.addEventListener("close", () => unsaved.delete(dialog));
  const leave = (): void => {
    if (!isUnsaved() || confirm("Close without saving?")) dialog.close();
  };
  const leaveInstead = (event: Event): void => {
    event.preventDefault();
    leave();
  };
  dialog.addEventListener("cancel", leaveInstead);
  // A second Escape closes a dialog whatever its event "cancel" is answered with.
  dialog.addEventListener("keydown", (event) => event.key === "Escape" && leaveInstead(event));

  let expected = condition;
  const save = async (): Promise<void> => {
    if (area.readOnly) return;
    area.readOnly = true; // what was typed now would not be in the file
    const text = withLineBreaksOf(area.defaultValue, area.value);
    const response = await write(address, text, expected);
    const theirs = response?.status === 412 ? await read(address) : undefined;
    if (response?.ok) {
      dialog.close();
      await refresh();
      return say(`${name} is saved.`); // later than the dialog: nothing behind it is read aloud
    }
    if (theirs && "tag" in theirs) {
      askWhose(name, address, text, theirs);
      return dialog.close();
    }
    area.readOnly = false;
    if (theirs?.isGone) expected = { "if-none-match": "*" };
    const reason = theirs?.isGone ? "Somebody has deleted the file: saving makes it again." : theirs?.reason;
    problem.textContent = `${reason ?? (await whyNot(response))} Your text is still here.`;
  };
  const menu = made("menu", {}, button(saveText, save, "main"));
  dialog.append(menu);
  return { dialog, menu, leave };
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
