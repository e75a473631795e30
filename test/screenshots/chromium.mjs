// What the pictures of pages need: Chromium, and the example site as `npm start` serves it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { onPath } from "../helpers/on-path.mjs";

export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

/** @param {readonly string[]} names of a program; the first that is on the PATH is taken */
export function programPath(...names) {
  const found = onPath(names);
  if (found === undefined) throw new Error(`none of these is installed: ${names.join(", ")}`);
  return found;
}

/** Chromium without a window. */
export function launch() {
  const executablePath = programPath("chromium-headless-shell", "chromium");
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"];
  args.push("--disable-background-networking", "--disable-component-update");
  return chromium.launch({ executablePath, args });
}

/**
 * A program of this repository that prints its address on a line of its own, until `stop`.
 * @param {readonly string[]} args
 */
export async function startServer(...args) {
  const options = {
    cwd: projectRoot,
    env: { ...process.env, PORT: "0" },
    stdio: /** @type {["ignore", "pipe", "inherit"]} */ (["ignore", "pipe", "inherit"]),
  };
  const server = spawn(process.execPath, args, options);
  const stop = async () => {
    server.kill("SIGTERM");
    await once(server, "exit");
  };
  for await (const line of createInterface({ input: server.stdout })) {
    const [, url] = /(?:^|listening on )(http:\/\/[^\s/]+)\/?$/.exec(line) ?? [];
    if (url !== undefined) return { url, stop };
  }
  throw new Error(`${args.join(" ")} has ended before it listened`);
}

/**
 * Waits until a page has what it loads, and is connected where it is a live one.
 * @param {import("playwright-core").Page} page
 * @param {string} url
 */
export async function visit(page, url) {
  await page.goto(url, { waitUntil: "networkidle" });
  if (await page.locator(".connection").count()) await page.locator(".connection.live").waitFor({ state: "attached" });
}
