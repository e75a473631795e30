import { refusal } from "../send.ts";
import { addressOf, button, made, refresh, say, withControlsShown } from "./entries.ts";

const mostAtOnce = 3;

interface Upload {
  readonly path: string;
  readonly file: File;
}

const list = made("ul");

/** Where the page shows the files that are on their way. */
export const uploadPanel: HTMLElement = made(
  "section",
  { className: "uploads", ariaLabel: "Uploads", hidden: true },
  list,
);

const waiting: Array<() => Promise<void>> = [];
let running = 0;
addEventListener("beforeunload", (event) => running > 0 && event.preventDefault());
/** Since the last time that nothing was under way. */
let [started, stored] = [0, 0];

/** A button and the hidden file field that it opens, side by side: a button must not contain a field. */
export function uploadControls(text: string, isFolder: boolean): HTMLElement[] {
  const input = made("input", { type: "file", multiple: true, hidden: true, webkitdirectory: isFolder });
  input.addEventListener("change", () => {
    start([...(input.files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
    input.value = "";
  });
  return [button(text, () => input.click()), input];
}

export function takeDrops(): void {
  const show = (isOver: boolean): boolean => document.documentElement.classList.toggle("dropping", isOver);
  /** Whether files are dragged; text and links are for fields to take. */
  const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes("Files") === true;
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    show(true);
  });
  document.addEventListener("dragleave", () => show(false));
  document.addEventListener("drop", async (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    show(false);
    // To be asked for at once: the list is empty after the event.
    const dropped = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
    const uploads: Upload[] = [];
    for (const entry of dropped) if (entry) await collect(entry, "", uploads);
    start(uploads);
  });
}

async function collect(entry: FileSystemEntry, folder: string, uploads: Upload[]): Promise<void> {
  const path = folder + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    uploads.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return; // they come a hundred at a time
    for (const each of batch) await collect(each, `${path}/`, uploads);
  }
}

function start(uploads: readonly Upload[]): void {
  uploadPanel.hidden = false;
  for (const upload of uploads) enqueue(upload, { "if-none-match": "*" }, list.appendChild(made("li")));
}

/** Sends a file when it is its turn, and tells on a line how far it is. With `fetch`, one would not know. */
function enqueue(upload: Upload, headers: Record<string, string>, line: HTMLElement): void {
  const name = withControlsShown(upload.path);
  const bar = made("progress", { max: 1, value: 0, ariaLabel: name });
  const state = made("span", { className: "state" }, "waits");
  const request = new XMLHttpRequest();
  let isCancelled = false;
  const cancel = button("Cancel", () => {
    isCancelled = true;
    request.abort();
  });
  line.replaceChildren(made("span", {}, name), bar, state, cancel);
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    bar.value = total === 0 ? 1 : loaded / total;
    state.textContent = `${Math.floor(bar.value * 100)} %`;
  });

  const send = async (): Promise<string> => {
    if (!isCancelled) await sent(request, upload, headers);
    if (isCancelled) return "cancelled";
    const { status, responseText } = request;
    if (status === 0) return failed("The connection was lost.", "Try again", headers);
    if (status === 412) return failed("There is a file of that name.", "Replace it", {});
    if (status >= 300) return failed((await refusal(new Response(responseText, { status }))).details);
    bar.value = 1;
    stored += 1;
    return "done";
  };
  const failed = (reason: string, remedy = "", condition = {}): string => {
    bar.remove(); // all of it may have been sent
    if (remedy) line.append(button(remedy, () => enqueue(upload, condition, line)));
    list.prepend(line); // where it can be seen among hundreds that were stored
    return reason;
  };

  started += 1;
  waiting.push(async () => {
    state.textContent = await send();
    cancel.remove();
  });
  void work();
}

function sent(request: XMLHttpRequest, { path, file }: Upload, headers: Record<string, string>): Promise<unknown> {
  request.open("PUT", addressOf(path));
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  return new Promise((resolve) => {
    request.addEventListener("loadend", resolve);
    request.send(file);
  });
}

async function work(): Promise<void> {
  if (running === mostAtOnce) return;
  running += 1;
  for (let next = waiting.shift(); next; next = waiting.shift()) await next();
  running -= 1;
  if (running > 0) return;
  // Once for all of them: a line for each would keep who listens from everything else.
  const count = `${started} file${started === 1 ? "" : "s"}`;
  say(stored === started ? `Uploaded: ${count}.` : `Uploaded: ${stored} of ${count}. The list says why.`);
  started = stored = 0;
  void refresh();
}
