import { addressOf, button, made, reasonIn, refresh, say, stayWhile, withControlsShown } from "./entries.ts";

const mostAtOnce = 3;

/** A file on its way, by its path from this folder. */
interface Upload {
  readonly path: string;
  readonly file: File;
}

const list = made("ul");
const panel = made("section", { className: "uploads", hidden: true }, list);
panel.setAttribute("aria-label", "Uploads");

/** Where the page shows the files that are on their way. */
export const uploadPanel: HTMLElement = panel;

const waiting: Array<() => Promise<void>> = [];
let running = 0;
stayWhile(() => running > 0);
/** Since the last time that nothing was under way. */
let [started, stored] = [0, 0];

/** A button that asks for files. */
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

/** Takes files and folders that are dropped on the page. */
export function takeDrops(): void {
  const show = (isOver: boolean): boolean => document.body.classList.toggle("dropping", isOver);
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
  for (const upload of uploads) enqueue(upload, itemFor(upload), { "if-none-match": "*" });
}

function enqueue(upload: Upload, item: Item, headers: Record<string, string>): void {
  started += 1;
  waiting.push(() => send(upload, item, headers));
  advance();
}

function advance(): void {
  while (running < mostAtOnce) {
    const next = waiting.shift();
    if (!next) break;
    running += 1;
    next().then(() => {
      running -= 1;
      advance();
      if (running === 0) finish();
    });
  }
}

/** Once for all of them: a line for each would keep who listens from everything else. */
function finish(): void {
  const count = `${started} file${started === 1 ? "" : "s"}`;
  say(stored === started ? `Uploaded: ${count}.` : `Uploaded: ${stored} of ${count}. The list says why.`);
  started = stored = 0;
  refresh();
}

/** The line of a file on its way. */
interface Item {
  readonly line: HTMLElement;
  readonly bar: HTMLProgressElement;
  readonly state: HTMLElement;
  readonly buttons: HTMLElement;
  isCancelled: boolean;
}

function itemFor(upload: Upload): Item {
  const path = withControlsShown(upload.path);
  panel.hidden = false;
  const bar = made("progress", { max: 1, value: 0 });
  bar.setAttribute("aria-label", path);
  const state = made("span", { className: "state" }, "waits");
  const buttons = made("span");
  const line = made("li", {}, made("span", {}, path), bar, state, buttons);
  const item: Item = { line, bar, state, buttons, isCancelled: false };
  buttons.append(
    button("Cancel", () => {
      item.isCancelled = true;
    }),
  );
  list.append(line);
  return item;
}

/** `fetch` does not say how far an upload has come. */
function send(upload: Upload, item: Item, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve) => {
    const end = (text: string, ...buttons: HTMLButtonElement[]): void => {
      item.state.textContent = text;
      item.buttons.replaceChildren(...buttons);
      resolve();
    };
    /** Where it can be seen among hundreds that were stored. */
    const fail = (text: string, ...buttons: HTMLButtonElement[]): void => {
      item.bar.hidden = true; // all of it may have been sent
      list.prepend(item.line);
      end(text, ...buttons);
    };
    if (item.isCancelled) return end("cancelled");
    item.bar.hidden = false;
    const request = new XMLHttpRequest();
    request.open("PUT", addressOf(upload.path));
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.responseType = "text";
    item.state.textContent = "0 %";
    item.buttons.replaceChildren(button("Cancel", () => request.abort()));
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      item.bar.value = total === 0 ? 1 : loaded / total;
      item.state.textContent = `${Math.floor(item.bar.value * 100)} %`;
    });
    request.addEventListener("abort", () => end("cancelled"));
    request.addEventListener("error", () => fail("The connection was lost.", again("Try again", headers)));
    request.addEventListener("load", () => {
      const { status } = request;
      if (status >= 200 && status < 300) {
        item.bar.value = 1;
        stored += 1;
        end("done");
      } else if (status === 412) fail("There is a file of that name.", again("Replace it", {}));
      else fail(reasonIn(status, parsed(request.responseText)));
    });
    request.send(upload.file);
  });

  function again(text: string, condition: Record<string, string>): HTMLButtonElement {
    return button(text, () => enqueue(upload, item, condition));
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a proxy's error is a page
  }
}
