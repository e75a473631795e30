import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The licences of the packages that bundled modules come from, each text once, with the packages under it.
 *
 * @param {readonly string[]} moduleIds paths of modules
 */
export function thirdPartyNotice(moduleIds) {
  /** @type {Map<string, string[]>} */
  const packagesByLicence = new Map();
  for (const directory of [...new Set(moduleIds.flatMap(packageDirectory))].sort()) {
    const { name, version } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    const text = licenceText(directory);
    packagesByLicence.set(text, [...(packagesByLicence.get(text) ?? []), `${name} ${version}`]);
  }
  const licences = [...packagesByLicence].map(([text, packages]) => `${packages.join("\n")}\n\n${text}`);
  return `The modules for browsers contain code of these packages.\n\n${licences.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

/** @param {string} moduleId */
function packageDirectory(moduleId) {
  const [directory] = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(moduleId) ?? [];
  return directory === undefined ? [] : [directory];
}

/**
 * Throws where a package has no licence file: what may not be passed on must not be bundled.
 *
 * @param {string} directory
 */
function licenceText(directory) {
  const file = readdirSync(directory).find((name) => /^licen[cs]e(?:\.|$)/i.test(name));
  if (file === undefined) throw new Error(`${directory} has no licence file, and is bundled`);
  return readFileSync(join(directory, file), "utf8").trim();
}
