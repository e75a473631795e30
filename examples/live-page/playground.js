// The playground: a selector, what it selects, a request, its reply, and the lines of the file that changed.

import { changedLines } from "./changed-lines.js";
import { button } from "./edit-in-place.js";
import { requestAsSent } from "./wire.js";

const file = "/tea-room.html";
/** Requests to begin with. */
const suggestions = [
  { method: "GET", selector: "#menu li:has(em)" },
  { method: "POST", selector: "#menu", content: '<li data-price="1.20">A biscuit</li>' },
  { method: "PUT", selector: "h1", content: '<h1 id="name">The lighthouse, newly painted</h1>' },
  { method: "PUT", selector: "#note em", content: "<em>still warm</em>" },
  { method: "DELETE", selector: "[data-price='0.00']" },
];

/** Puts the playground where the page has a place for it. */
export function openPlayground() {
  const place = document.querySelector("#play");
  if (!place) return;
  const ground = document.createElement("section");
  ground.className = "playground";
  ground.dataset["local"] = "";
  ground.setAttribute("aria-labelledby", "play");
  ground.innerHTML = `<form>
    <label>Selector <input name="selector" value="#menu" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
    <p class="suggestions"></p>
    <p class="count" role="status"></p>
    <label>Content, for PUT and POST
      <textarea name="content" rows="2" spellcheck="false">&lt;li data-price="1.20"&gt;A biscuit&lt;/li&gt;</textarea></label>
    <p class="methods"></p>
    <p class="outcome" role="status"></p>
  </form>
  <iframe src=".${file}" title="The page that you change"></iframe>
  <div class="wire" hidden>
    <div><h3>Request</h3><pre></pre></div>
    <div><h3>Reply</h3><pre></pre></div>
    <div><h3></h3><pre class="diff"></pre></div>
  </div>`;

  const form = /** @type {HTMLFormElement} */ (ground.querySelector("form"));
  const selector = /** @type {HTMLInputElement} */ (form.elements.namedItem("selector"));
  const content = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("content"));
  const frame = /** @type {HTMLIFrameElement} */ (ground.querySelector("iframe"));
  const wire = /** @type {HTMLElement} */ (ground.querySelector(".wire"));
  const [requestText, replyText, diff] = wire.querySelectorAll("pre");
  const changeHeading = /** @type {HTMLElement} */ (wire.querySelectorAll("h3")[2]);
  const count = /** @type {HTMLElement} */ (ground.querySelector(".count"));
  const outcomeLine = /** @type {HTMLElement} */ (ground.querySelector(".outcome"));

  const light = lightIn(frame, (text) => {
    if (count.textContent !== text) count.textContent = text;
  });
  selector.addEventListener("input", () => light(selector.value));
  light(selector.value);

  /** @type {string | undefined} The page as it was, to put it back. */
  let original;

  /** @param {string} method */
  function ask(method) {
    const hasBody = method === "PUT" || method === "POST";
    return send({
      method,
      target: file,
      headers: { Range: `selector=${selector.value}`, ...(hasBody && { "Content-Type": "text/html" }) },
      body: hasBody ? content.value : undefined,
    });
  }

  async function putBack() {
    if (original === undefined) return;
    await send({ method: "PUT", target: file, headers: { "Content-Type": "text/html" }, body: original });
    requestText?.replaceChildren(`PUT ${file} HTTP/1.1\nContent-Type: text/html\n\n(the page as it was)`);
  }

  /** @param {import("./wire.js").Sending} sending */
  async function send(sending) {
    const before = await textOf(file);
    original ??= before;
    const { request, reply, outcome } = await requestAsSent(sending);
    const lines = changedLines(before, await textOf(file));
    requestText?.replaceChildren(request.trimEnd());
    replyText?.replaceChildren(reply);
    diff?.replaceChildren(
      ...(lines.length > 0 ? lines.map(({ sign, text }) => lineOf(sign, text)) : ["Nothing: not one byte."]),
    );
    changeHeading.textContent =
      lines.length > 0 ? "Changed in the file, and not one other byte" : "Changed in the file";
    wire.hidden = false;
    outcomeLine.textContent = `${outcome}. The file ${lines.length > 0 ? "has changed" : "is as it was"}.`;
  }

  const methods = ["GET", "PUT", "POST", "DELETE"].map((method) => button(method, () => ask(method)));
  ground.querySelector(".methods")?.append(...methods, button("Put the page back", putBack));
  const choices = suggestions.map(({ method, selector: chosen, content: supplied = content.value }) =>
    button(`${method} ${chosen}`, () => {
      selector.value = chosen;
      content.value = supplied;
      light(chosen);
      for (const each of methods) each.classList.toggle("main", each.textContent === method);
      methods.find((each) => each.textContent === method)?.focus(); // Enter sends it
    }),
  );
  ground.querySelector(".suggestions")?.append(...choices);
  form.addEventListener("submit", (event) => {
    event.preventDefault(); // Enter in the field reads
    ask("GET");
  });

  let end = place; // behind the sentence below the heading
  while (end.nextElementSibling?.matches("p, noscript")) end = end.nextElementSibling;
  end.after(ground);
}

/**
 * Lights up what a selector selects in a frame, and says how much that is, also when the page in it changes.
 * @param {HTMLIFrameElement} frame
 * @param {(text: string) => void} tell
 * @returns {(selector: string) => void}
 */
function lightIn(frame, tell) {
  let selector = "";
  /** @type {CSSStyleSheet | undefined} */
  let sheet;

  function show() {
    const page = frame.contentDocument;
    if (!sheet || !page) return;
    try {
      const { length } = page.querySelectorAll(selector);
      sheet.replaceSync(`:is(${selector}) { background: var(--highlight); outline: 2px solid var(--accent) }`);
      tell(length === 1 ? "1 element" : `${length} elements`);
    } catch {
      sheet.replaceSync("");
      tell(selector.trim() === "" ? "Type a selector." : "That is no selector.");
    }
  }

  frame.addEventListener("load", () => {
    const view = /** @type {Window & typeof globalThis} */ (frame.contentWindow);
    sheet = new view.CSSStyleSheet();
    view.document.adoptedStyleSheets.push(sheet);
    new view.MutationObserver(show).observe(view.document, { childList: true, subtree: true, attributes: true });
    show();
  });
  return (chosen) => {
    selector = chosen;
    show();
  };
}

/**
 * @param {"+" | "-"} sign
 * @param {string} text
 */
function lineOf(sign, text) {
  const line = document.createElement(sign === "+" ? "ins" : "del");
  line.textContent = `${sign} ${text}`;
  return line;
}

/** @param {string} path */
async function textOf(path) {
  const response = await fetch(path, { cache: "no-store" }).catch(() => undefined);
  return response?.ok ? response.text() : "";
}
