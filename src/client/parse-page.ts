import { dom } from "./dom.ts";

/** Marks a `noscript` while its page is parsed. */
const mark = "data-filement-noscript";
const htmlNamespace = "http://www.w3.org/1999/xhtml";

/**
 * Parses a page as a browser with scripting does, where the content of `noscript` is text: `DOMParser` would make
 * elements of it, whose images load. So `noscript` is parsed under another name, whose content is always text.
 */
export function parsePage(html: string): Document {
  const contents: string[] = [];
  let source = html;
  for (let isMore = true; isMore; ) [source, isMore] = withoutNoscript(source, contents);

  const page = parse(source);
  for (const placeholder of dom(page).querySelectorAll(`noembed[${mark}], noframes[${mark}]`)) {
    const noscript = dom(page).createElement("noscript");
    const text = contents[Number(dom(placeholder).getAttribute(mark))] ?? "";
    dom(placeholder).removeAttribute(mark);
    for (const attribute of dom(placeholder).attributes) noscript.setAttributeNode(attribute.cloneNode() as Attr);
    noscript.textContent = text.replace(/\r\n?/g, "\n").replaceAll("\0", "\ufffd");
    dom(placeholder).replaceWith(noscript);
  }
  return page;
}

/** The content of a `noscript` may hide or make the next, by a comment for instance: so there are several rounds. */
function withoutNoscript(source: string, contents: string[]): [source: string, isMore: boolean] {
  const marked = source.replace(/<noscript(?=[\s/>])/gi, (tag, at) => `${tag} ${mark}="${at}"`);
  if (marked === source) return [source, false];
  const page = parse(marked);
  const found = [...dom(page).querySelectorAll(`noscript[${mark}]`)]
    .filter((element) => dom(element).namespaceURI === htmlNamespace)
    .map((element) => ({
      start: Number(dom(element).getAttribute(mark)),
      name: dom(element).parentElement === dom(page).head ? "noframes" : "noembed",
    }))
    .sort((one, other) => one.start - other.start);

  let result = "";
  let end = 0;
  for (const { start, name } of found) {
    if (start < end) continue; // text of the one before
    const [tag = ""] = /^<noscript(?:[^>"']|"[^"]*"|'[^']*')*>/i.exec(source.slice(start)) ?? [];
    const from = start + tag.length;
    const length = source.slice(from).search(/<\/noscript(?=[\s/>])/i);
    const to = length < 0 ? source.length : from + length;
    result += `${source.slice(end, start)}<${name} ${mark}="${contents.length}"${tag.slice("<noscript".length)}</${name}`;
    contents.push(source.slice(from, to));
    end = to + "</noscript".length;
    if (name === "noframes") break; // as elements, its content may have ended the head
  }
  return [result + source.slice(end), found.length > 0];
}

function parse(html: string): Document {
  return new DOMParser().parseFromString(html, "text/html");
}
