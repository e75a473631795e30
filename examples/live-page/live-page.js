// What all pages need to be alive: the connection to the server, and what they say to people.
import { connect, PageError } from "/.well-known/filement/client.js";

/** The page that is open. */
export const page = connect();

/** Has an event `updated` each time that the page was brought up to date. */
export const updates = new EventTarget();

// In a frame of another page there is room for what the page is about, and no more.
document.documentElement.classList.toggle("framed", window !== window.top);

/**
 * Keeps the page like its file. `prepare` gives what is in the file its buttons, each time that something has changed.
 * @param {() => void} prepare
 */
export function goLive(prepare = () => {}) {
  const state = document.createElement("p");
  state.className = "connection";
  state.dataset["local"] = "";
  state.setAttribute("role", "status"); // read aloud when it changes, without taking the focus away
  document.querySelector("main > .lead")?.after(state);
  const showState = (/** @type {boolean} */ isLive) => {
    state.classList.toggle("live", isLive);
    state.textContent = isLive ? "Live: open this page in a second window." : "Connecting…";
  };

  showState(false);
  page.mirror((changes) => {
    prepare();
    updates.dispatchEvent(new Event("updated"));
    for (const change of changes) if (!change.own) point(change);
  });
  page.watch(({ type }) => {
    if (type === "open" || type === "closed") showState(type === "open");
  });
  prepare();
}

// News

const news = document.createElement("p");
news.className = "news";
news.dataset["local"] = "";
news.setAttribute("role", "status");
document.body.append(news);

/** @type {ReturnType<typeof setTimeout> | undefined} */
let silence;

/**
 * Says something at the foot of the window, and has it read aloud.
 * @param {string} text
 */
export function say(text) {
  clearTimeout(silence);
  news.textContent = text;
  news.classList.add("shown");
  silence = setTimeout(() => news.classList.remove("shown"), 8000);
}

/**
 * Shows what somebody else has changed.
 * @param {import("filement/client").PageChange} change
 */
function point({ kind, selector, html = "", user }) {
  const verbs = {
    "elements-appended": "added",
    "elements-replaced": "changed",
    "elements-deleted": "deleted something",
  };
  if (selector === undefined || !(kind in verbs)) return say("The page was changed.");
  const words = new DOMParser().parseFromString(html, "text/html").body.textContent.trim().replace(/\s+/g, " ");
  const verb = verbs[/** @type {keyof typeof verbs} */ (kind)];
  say(`${user ?? "Somebody"} ${verb}${words && ` “${words.length > 60 ? `${words.slice(0, 60)}…` : words}”`}.`);
  if (kind === "elements-deleted" || matchMedia("(prefers-reduced-motion)").matches) return;
  for (const element of document.querySelectorAll(selector)) {
    const target = kind === "elements-appended" ? element.lastElementChild : element;
    target?.animate({ backgroundColor: ["var(--highlight)", "transparent"] }, { duration: 2000, easing: "ease-in" });
  }
}

/**
 * What to tell people about an error.
 * @param {unknown} error
 */
export function inWords(error) {
  if (!(error instanceof PageError)) throw error;
  if (error.status === 401) return "Nothing was changed: you would have to sign in first.";
  if (error.status === 403) return "Nothing was changed: you may read this page, but not change it.";
  if (error.code === "NETWORK") return "The server cannot be reached. Try again in a moment.";
  if (error.code === "NO_MATCH" || error.status === 412) return "Somebody was faster. Look again, and try once more.";
  return `Nothing was changed: ${error.details}`;
}

/**
 * Whether an error says that somebody else has changed or deleted what was to be written.
 * @param {unknown} error
 */
export function isConflict(error) {
  return error instanceof PageError && (error.status === 412 || error.code === "NO_MATCH");
}

/**
 * Asks whose text to keep; `undefined` when that is left open.
 * @param {string} mine
 * @param {string | undefined} theirs what is there now, if anything
 * @returns {Promise<"mine" | "theirs" | undefined>}
 */
export function askWhose(mine, theirs) {
  const dialog = document.createElement("dialog");
  dialog.dataset["local"] = "";
  dialog.setAttribute("aria-labelledby", "conflict");
  dialog.innerHTML = `<form method="dialog">
    <h2 id="conflict" tabindex="-1" autofocus></h2>
    <dl><dt>Yours</dt><dd></dd><dt>Theirs</dt><dd></dd></dl>
    <menu><button class="main" value="mine"></button> <button value="theirs"></button></menu>
    <p class="hint"></p>
  </form>`;
  const [heading, yourText, theirText, keepMine, takeTheirs, hint] = dialog.querySelectorAll("h2, dd, button, .hint");
  const isGone = theirs === undefined;
  heading?.append(`Somebody has ${isGone ? "deleted" : "changed"} this while you were writing.`);
  yourText?.append(mine);
  theirText?.append(theirs ?? "(deleted)");
  keepMine?.append(isGone ? "Put mine back" : "Keep mine");
  takeTheirs?.append(isGone ? "Let it go" : "Take theirs");
  hint?.append(isGone ? "Escape keeps your text in the field for a new one." : "Escape goes back to your text.");

  document.body.append(dialog);
  dialog.showModal(); // the heading has the focus, so that an Enter too many decides nothing
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      const { returnValue } = dialog;
      resolve(returnValue === "mine" || returnValue === "theirs" ? returnValue : undefined);
    });
  });
}
