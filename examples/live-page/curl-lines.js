// Buttons at every curl line of a page: Copy, and Run, which sends the request from here.
import { button } from "./edit-in-place.js";
import { say } from "./live-page.js";
import { inWire, requestAsSent } from "./wire.js";

/** Gives each curl line that has none yet its buttons, and a place for the reply. */
export function addButtons() {
  for (const line of document.querySelectorAll("pre")) {
    const { textContent: command } = line;
    if (!command.startsWith("curl ") || line.nextElementSibling?.matches(".run")) continue;
    const tools = document.createElement("div");
    tools.className = "run";
    tools.dataset["local"] = "";
    const reply = document.createElement("pre");
    reply.className = "reply";
    reply.hidden = true;
    const outcome = document.createElement("p");
    outcome.className = "outcome";
    outcome.setAttribute("role", "status"); // the whole reply would be too much to be read aloud
    const run = button("Run", async () => {
      const exchange = await requestAsSent(requestOf(command));
      outcome.textContent = exchange.outcome;
      reply.textContent = inWire(exchange);
      reply.hidden = false;
    });
    const copy = button("Copy", () =>
      navigator.clipboard.writeText(command).then(
        () => say("Copied. Paste it into a terminal."),
        () => say("The browser does not let this page copy: select the line instead."),
      ),
    );
    const step = line.closest("li")?.querySelector("h3")?.textContent ?? "the request";
    for (const each of [run, copy]) each.setAttribute("aria-label", `${each.textContent}: ${step}`);
    tools.append(run, copy, outcome, reply);
    line.after(tools);
  }
}

/**
 * The request that a curl line sends, for the options that the lines of these pages have.
 * @param {string} command
 * @returns {import("./wire.js").Sending}
 */
function requestOf(command) {
  const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "").slice(1);
  /** @type {Record<string, string>} */
  const headers = {};
  /** @type {string | undefined} */
  let body;
  let method = "GET";
  let target = "";
  while (words.length > 0) {
    const word = words.shift() ?? "";
    if (word === "-X") method = words.shift() ?? "";
    else if (word === "-d") body = words.shift() ?? "";
    else if (word === "-H") {
      const [name = "", value = ""] = (words.shift() ?? "").split(/: (.*)/);
      headers[name] = value;
    } else if (!word.startsWith("-")) target = new URL(word).pathname;
  }
  return { method, target, headers, body };
}
