import { allEntries, button, type Entry, made, openDialog } from "./entries.ts";

const longestText = 200_000;
/** How long Markdown may take beside the page, in milliseconds; after that, the text is shown as it is. */
const longestRendering = 5_000;

export function isPreviewable({ kind, name }: Entry): boolean {
  return ["text", "image", "audio", "video", "pdf"].includes(kind) || isMarkdown(name);
}

export async function preview(entry: Entry): Promise<void> {
  const content = await contentOf(entry);
  const dialog = openDialog(entry.name, content);
  const close = button("Close", () => dialog.close(), "main");
  dialog.append(made("menu", {}, close, made("a", { href: entry.link.href }, "Open the file")));
}

export async function showReadme(): Promise<void> {
  const main = document.querySelector("main"); // another one, after a refresh meanwhile
  const isReadme = /^readme(?:\.md|\.txt|\.markdown)?$/i;
  const readme = allEntries().find(({ name, kind }) => kind !== "folder" && isReadme.test(name));
  if (readme) main?.append(made("section", { className: "readme" }, made("h2", {}, readme.name), await textOf(readme)));
}

async function contentOf(entry: Entry): Promise<HTMLElement> {
  const { kind, name } = entry;
  const src = entry.link.href;
  if (kind === "image") return made("img", { src, alt: name });
  if (kind === "video") return made("video", { src, controls: true });
  if (kind === "audio") return made("audio", { src, controls: true });
  if (kind === "pdf") return made("iframe", { src, title: name });
  return textOf(entry);
}

async function textOf({ name, link, size }: Entry): Promise<HTMLElement> {
  const headers: HeadersInit = size > longestText ? { range: `bytes=0-${longestText - 1}` } : {};
  const response = await fetch(link.href, { headers }).catch(() => undefined);
  const text = response?.ok ? await response.text() : "The file could not be read.";
  const place = made("div", { className: "text" });
  const html = response?.ok && isMarkdown(name) ? await htmlOf(text) : undefined;
  if (html !== undefined) {
    place.innerHTML = html; // markup in the text is shown as it is written, and does nothing
    for (const heading of place.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
      heading.ariaLevel = `${Number(heading.localName.slice(1)) + 2}`; // below the heading with the name of the file
    }
  } else place.append(made("pre", { tabIndex: 0 }, text));
  if (size > longestText) place.append(made("p", { className: "note" }, "This is only the beginning of the file."));
  return place;
}

/** Markdown as HTML; `undefined` where that takes too long or is too much. */
function htmlOf(text: string): Promise<string | undefined> {
  const worker = new Worker(new URL("./markdown.js", import.meta.url), { type: "module" });
  const rendered = new Promise<string | undefined>((resolve) => {
    worker.addEventListener("message", ({ data }) => resolve(data.html));
    worker.addEventListener("error", () => resolve(undefined));
    setTimeout(resolve, longestRendering);
  });
  worker.postMessage(text);
  return rendered.finally(() => worker.terminate());
}

function isMarkdown(name: string): boolean {
  return /\.(?:md|markdown)$/i.test(name);
}
