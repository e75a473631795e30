import { posix } from "node:path";

/** A link of a Markdown page to another file of the project, or to a place on the page itself. */
export interface RelativeLink {
  /** As it is written: `](docs/errors.md#codes)`. */
  readonly link: string;
  /** The file or folder it leads to, relative to the project, without a trailing slash. */
  readonly target: string;
  readonly anchor: string | undefined;
}

/** The links on a page that have no address of their own; `page` is its path in the project. */
export function relativeLinks(page: string, text: string): RelativeLink[] {
  const links = withoutCode(text).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g);
  return [...links].map(([link, path = "", anchor]) => {
    const target = path === "" ? page : posix.join(posix.dirname(page), path).replace(/\/$/, "");
    return { link, target, anchor };
  });
}

/** A page without its blocks of code. */
export function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, "");
}
