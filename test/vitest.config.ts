import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import type { Vite } from "vitest/node";
import { isCampaign } from "./helpers/effort.ts";
import { LeftOutReporter } from "./helpers/left-out-reporter.ts";
import { allNeeds } from "./helpers/needs.ts";

/** Campaigns try more, and often for longer than others leave the machine to them. */
const patience = isCampaign ? 5 : 1;

export default defineConfig({
  plugins: [reportLeftOut()],
  test: {
    root: fileURLToPath(new URL("..", import.meta.url)),
    include: ["test/**/*.test.ts"],
    maxWorkers: availableParallelism() + 2, // tests wait for browsers and other processes half of their time
    isolate: false, // a worker loads each module once; tests restore what they change
    experimental: { fsModuleCache: true }, // what was compiled for one run is there for the next; found by its content
    // No test is measured by these: they end what hangs, also on a machine that does ten things at once.
    testTimeout: patience * 120_000,
    hookTimeout: patience * 120_000,
    expect: { requireAssertions: true, poll: { timeout: patience * 100_000, interval: 20 } },
    env: {
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true", // of Node 20, once in each worker
      NODE_EXTRA_CA_CERTS: "", // each of many processes would read them for a tenth of a second, and needs none
    },
    globalSetup: ["test/helpers/s3-setup.ts"],
    setupFiles: isCampaign ? ["test/helpers/campaign-end.ts"] : [],
    tags: allNeeds().map(({ name, isMet, what }) => ({
      name,
      description: `Needs ${what}.`,
      ...(!isMet && { skip: true }),
    })),
  },
});

/** A plugin, because `--reporter` on the command line replaces the reporters of this file. */
function reportLeftOut(): Vite.Plugin {
  return {
    name: "report-left-out",
    configureVitest({ vitest }) {
      vitest.config.reporters.push(new LeftOutReporter(process.env["FILEMENT_PROGRAMS"] === "required"));
    },
  };
}
