import { existsSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { fileURLToPath } from "node:url";
import { isCampaign } from "./effort.ts";
import { onPath } from "./on-path.mjs";

/** Programs that some tests start, and the Debian package of each. Nothing else is needed beside git, Node and npm. */
const programs = {
  bash: { debianPackage: "bash" },
  bindfs: { debianPackage: "bindfs" },
  caddy: { debianPackage: "caddy" },
  // The shell draws no window frame, and takes a third of the time.
  chromium: { names: ["chromium-headless-shell", "chromium"], debianPackage: "chromium-headless-shell" },
  curl: { debianPackage: "curl" },
  firefox: { names: ["firefox-esr", "firefox"], debianPackage: "firefox-esr" },
  htpasswd: { debianPackage: "apache2-utils" },
  "mkfs.exfat": { debianPackage: "exfatprogs" },
  "mount.exfat-fuse": { debianPackage: "exfat-fuse" },
  mkfifo: { debianPackage: "coreutils" },
  nginx: { debianPackage: "nginx-light" },
  openssl: { debianPackage: "openssl" },
  litmus: { debianPackage: "litmus" },
  "redis-server": { debianPackage: "redis-server" },
  "systemd-analyze": { debianPackage: "systemd" },
} as const satisfies Record<string, ProgramPackage>;

interface ProgramPackage {
  /** What the program may be called; the first that is there counts. */
  readonly names?: readonly string[];
  readonly debianPackage: string;
}

const html5libTests = fileURLToPath(new URL("../../../shared/html5lib-tests", import.meta.url));
const siteTools = fileURLToPath(new URL("../../.ci/site/node_modules/.package-lock.json", import.meta.url));
const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
const isRoot = process.getuid?.() === 0;

/** What else some tests need of the machine, and whether it is so here. */
const conditions = {
  linux: { isMet: process.platform === "linux", what: "Linux" },
  posix: { isMet: process.platform !== "win32", what: "a system other than Windows" },
  root: { isMet: isRoot, what: "a user who is root" },
  unprivileged: { isMet: !isRoot, what: "a user other than root" },
  ipv6: { isMet: addresses.some(({ family }) => family === "IPv6"), what: "IPv6" },
  html5lib: { isMet: existsSync(html5libTests), what: "the html5lib tests in ../shared/html5lib-tests" },
  campaign: { isMet: isCampaign, what: "the time that `npm run campaign` takes" },
  minutes: { isMet: isCampaign, what: "several minutes of `npm run campaign`" },
  site: { isMet: existsSync(siteTools), what: "what makes the site of the documentation (npm run tools)" },
  bun: { isMet: onPath(["bun"]) !== undefined, what: "the runtime Bun (npm install -g bun)" },
  deno: { isMet: onPath(["deno"]) !== undefined, what: "the runtime Deno (npm install -g deno)" },
  versitygw: {
    isMet: onPath(["versitygw"]) !== undefined,
    what: "the S3 server versitygw (go install github.com/versity/versitygw/cmd/versitygw@v1.8.0)",
  },
  tiddlywiki: { isMet: onPath(["tiddlywiki"]) !== undefined, what: "TiddlyWiki (npm install -g tiddlywiki)" },
  conformance: {
    isMet: onPath(["conformance"]) !== undefined,
    what: "the conformance tests of MCP (npm install -g @modelcontextprotocol/conformance@0.1.13)",
  },
  mounts: {
    isMet:
      isRoot && onPath(["mount"]) !== undefined && ["/dev/loop-control", "/dev/fuse"].every((path) => existsSync(path)),
    what: "a user who may mount disks, and the program mount",
  },
  tsup: { isMet: onPath(["tsup"]) !== undefined, what: "the bundler tsup (npm install -g tsup)" },
  procfs: { isMet: existsSync("/proc/self/fd"), what: "/proc" },
} as const;

export type Program = keyof typeof programs;
export type Need = Program | keyof typeof conditions;

/** What a test can need, and whether it is here. Tests name it as a tag: `it("...", { tags: ["openssl"] }, ...)`. */
export interface NeedState {
  readonly name: Need;
  readonly isMet: boolean;
  readonly isProgram: boolean;
  /** The need as one says it. */
  readonly what: string;
}

declare module "vitest" {
  interface TestTags {
    needs: Need;
  }
}

/** Where a program is on the `PATH`; `undefined` where it is not installed. */
export function programPath(program: Program): string | undefined {
  const { names = [program] } = programs[program] as ProgramPackage;
  return onPath(names);
}

/** Whether something that a test can need is here. */
export function isMet(need: Need): boolean {
  return allNeeds().some((each) => each.name === need && each.isMet);
}

/** Every need, met or not. */
export function allNeeds(): NeedState[] {
  const ofPrograms = Object.entries(programs).map(([name, { debianPackage }]) => ({
    name: name as Program,
    isMet: programPath(name as Program) !== undefined,
    isProgram: true,
    what: `the program ${name} (Debian: apt-get install ${debianPackage})`,
  }));
  const others = Object.entries(conditions).map(([name, condition]) => ({
    name: name as Need,
    isProgram: false,
    ...condition,
  }));
  return [...ofPrograms, ...others];
}
