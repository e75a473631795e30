import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { findAll } from "domutils";
import { parseDocument } from "htmlparser2";

/** @typedef {{ ids: Set<string>, links: string[] }} Page */

/**
 * The links of a built site that lead to no file or folder of it, or to no element of the page they name. Addresses
 * elsewhere are not asked.
 *
 * @param {string} site folder
 * @param {readonly string[]} copied folders in it with pages that are not its own: they are led to, but not read
 * @returns {string[]} `page: link`
 */
export function deadLinks(site, copied = []) {
  /** @type {Map<string, Page>} */
  const read = new Map();
  const names = readdirSync(site, { recursive: true, encoding: "utf8" }).map((name) => name.replaceAll("\\", "/"));
  const pages = names.filter((name) => name.endsWith(".html") && !copied.some((each) => name.startsWith(`${each}/`)));
  return pages.flatMap((name) =>
    pageIn(join(site, name))
      .links.filter((link) => isDead(new URL(link, `http://site/${name}`)))
      .map((link) => `${name}: ${link}`),
  );

  /** @param {URL} url */
  function isDead({ host, pathname, hash }) {
    if (host !== "site") return false;
    const path = join(site, decodeURIComponent(pathname));
    const isFolder = isThere(path)?.isDirectory() ?? false; // which comes before a page of its name
    const file = [path, join(path, "index.html"), ...(isFolder ? [] : [`${path}.html`])].find((each) =>
      isThere(each)?.isFile(),
    );
    if (file === undefined) return !isFolder || hash !== ""; // a listing
    return hash !== "" && !pageIn(file).ids.has(decodeURIComponent(hash.slice(1)));
  }

  /** @param {string} file */
  function pageIn(file) {
    const page = read.get(file) ?? readPage(file);
    read.set(file, page);
    return page;
  }
}

/**
 * @param {string} file
 * @returns {Page}
 */
function readPage(file) {
  const elements = findAll(() => true, [parseDocument(readFileSync(file, "utf8"))]);
  /** @type {(name: string, tags?: readonly string[]) => string[]} */
  const values = (name, tags) =>
    elements.filter((element) => tags?.includes(element.name) ?? true).flatMap(({ attribs }) => attribs[name] ?? []);
  return { ids: new Set(values("id")), links: [...values("href", ["a"]), ...values("src", ["img"])] };
}

/** @param {string} path */
function isThere(path) {
  return statSync(path, { throwIfNoEntry: false });
}
