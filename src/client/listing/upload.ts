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

const waiting: Array<() => void> = [];
let running = 0;
addEventListener("beforeunload", (event) => running > 0 && event.preventDefault());
/** Since the last time that nothing was under way. */
let [started, stored] = [0, 0];

export function uploadButton(text: string, isFolder: boolean): HTMLButtonElement {
  const input = made("input", { type: "file", multiple: true, hidden: true, webkitdirectory: isFolder });
  input.addEventListener("change", () => {
    start([...(input.files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
    input.value = "";
  });
  const asking = button(text, () => input.click());
  asking.append(input);
  return asking;
}

export function takeDrops(): void {
  const show = (isOver: boolean): boolean => document.documentElement.classList.toggle("dropping", isOver);
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    show(true);
  });
  document.addEventListener("dragleave", () => show(false));
  document.addEventListener("drop", async (event) => {
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

  const end = (text: string): void => {
    state.textContent = text;
    cancel.remove();
    running -= 1;
    advance();
  };
  const fail = (text: string, remedy?: string, condition: Record<string, string> = {}): void => {
    bar.remove(); // all of it may have been sent
    if (remedy) line.append(button(remedy, () => enqueue(upload, condition, line)));
    list.prepend(line); // where it can be seen among hundreds that were stored
    end(text);
  };
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    bar.value = total === 0 ? 1 : loaded / total;
    state.textContent = `${Math.floor(bar.value * 100)} %`;
  });
  request.addEventListener("loadend", async () => {
    const { status } = request;
    if (isCancelled) return end("cancelled");
    if (status === 0) return fail("The connection was lost.", "Try again", headers);
    if (status === 412) return fail("There is a file of that name.", "Replace it");
    if (status >= 300) return fail((await refusal(new Response(request.responseText, { status }))).details);
    bar.value = 1;
    stored += 1;
    end("done");
  });

  started += 1;
  waiting.push(() => {
    if (isCancelled) return end("cancelled");
    request.open("PUT", addressOf(upload.path));
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    state.textContent = "0 %";
    request.send(upload.file);
  });
  advance();
}

function advance(): void {
  while (running < mostAtOnce) {
    const next = waiting.shift();
    if (!next) break;
    running += 1;
    next();
  }
  if (running === 0 && started > 0) finish();
}

/** Once for all of them: a line for each would keep who listens from everything else. */
function finish(): void {
  const count = `${started} file${started === 1 ? "" : "s"}`;
  say(stored === started ? `Uploaded: ${count}.` : `Uploaded: ${stored} of ${count}. The list says why.`);
  started = stored = 0;
  refresh();
}
