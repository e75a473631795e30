import { checkOptions } from "../options/check-config.ts";
import {
  aFunction,
  pluginOptions,
  requestPath,
  secondsOrNone,
  textNotEmpty,
  timerSeconds,
} from "../options/option-types.ts";
import { type OptionsSchema, recordOf, yesOrNo } from "../options/schema.ts";
import { requireReading } from "../server/access.ts";
import { notify } from "../server/logger.ts";
import type { Plugin } from "../server/plugin.ts";
import { jsonReply, type Reply } from "../server/reply.ts";
import { sharedServices } from "../server/shared-services.ts";
import type { Site } from "../server/site.ts";
import { version as filementVersion } from "../server/version.ts";
import { type HealthCheck, watchedCheck } from "./health-check/watched-check.ts";

/** Options for {@link healthCheck}. */
export interface HealthCheckOptions {
  /** Path that answers the probe. @default "/health" */
  readonly path?: string;
  /** Named checks; one that returns `false`, throws or takes too long makes the server unhealthy. @default {} */
  readonly checks?: Readonly<Record<string, HealthCheck>>;
  /**
   * Check, under the name `storage`, whether storages of the host's file handlers could be written to, or read where
   * they only are; unless `checks` has one of that name. @default true
   */
  readonly checkStorage?: boolean;
  /** Time limit of each check, in seconds. @default 5 */
  readonly timeout?: number;
  /** How long the answer of a check is good for, in seconds. @default 1 */
  readonly cacheTime?: number;
  /** What the report says as `version`. @default the version of Filement */
  readonly version?: string;
}

export const healthCheckOptions: OptionsSchema = pluginOptions({
  path: requestPath,
  checks: recordOf(aFunction, "an object of functions by name"),
  checkStorage: yesOrNo,
  timeout: timerSeconds,
  cacheTime: secondsOrNone,
  version: textNotEmpty,
});

type Probe = readonly [name: string, passes: () => Promise<boolean>];

/**
 * Answers health probes, even while other requests get 503: 200 while the host takes requests and every check passes,
 * otherwise 503 with a `status` that says why. Throws a `ConfigError` for options that cannot work.
 *
 * @example healthCheck({ checks: { database: async (signal) => (await fetch(databaseUrl, { signal })).ok } });
 */
export function healthCheck(options: HealthCheckOptions = {}): Plugin {
  checkOptions("healthCheck", healthCheckOptions, options);
  const { path = "/health", checks = {}, checkStorage = true, version = filementVersion } = options;
  const { timeout = 5, cacheTime = 1 } = options;
  /** By what they are about: hosts that share something ask it together. */
  const probes = new Map<unknown, Probe>();
  /** Of storages that are only read: their disk may be mounted to be read only. */
  const readings: typeof probes = new Map();
  let startedAt: number | undefined;

  function probe(about: unknown, name: string, check: HealthCheck, { report, logger }: Site, known = probes): Probe {
    const onChange = (reason: Error | undefined): void => {
      if (reason) report(new Error(`health check "${name}" fails`, { cause: reason }));
      else notify(() => logger.info({ check: name }, "health check passes again"), report);
    };
    const watched = { timeoutMs: timeout * 1000, cacheMs: cacheTime * 1000, onChange };
    const found = known.get(about) ?? [name, watchedCheck(check, watched)];
    known.set(about, found);
    return found;
  }

  function probesOf(site: Site): readonly Probe[] {
    const own = Object.entries(checks).map(([name, check]) => probe(name, name, check, site));
    if (!checkStorage || "storage" in checks) return own;
    const ofStorages = [...site.handled].flatMap(({ source, isWritten }): readonly Probe[] => {
      if (!source.check) return [];
      if (isWritten) return [probe(source, "storage", () => source.check?.(), site)];
      return [probe(source, "storage", async () => (await source.stat("/")) !== undefined, site, readings)];
    });
    return [...ofStorages, ...own];
  }

  return {
    name: "health-check",
    alwaysOn: true,
    start() {
      startedAt ??= performance.now();
    },
    async handle(exchange, next) {
      if (exchange.path !== path) return next();
      requireReading(exchange);
      const { site } = exchange;
      const outage = site.outage();
      const uptime = startedAt === undefined ? 0 : Math.floor((performance.now() - startedAt) / 1000);
      // The answer is known without the checks, which would add to the load.
      if (outage) return report(503, { status: outage.code.toLowerCase(), uptime, version }, outage.headers);
      const services = [...sharedServices].map((each) => probe(each, each.name, () => each.check(), site));
      const [results, shared] = await Promise.all([ask(probesOf(site)), ask(services)]);
      const checks = { ...shared, ...results };
      const isHealthy = Object.values(results).every((result) => result === "ok");
      // A failure of what all servers share does not take one out of rotation: all would go at once.
      if (isHealthy && Object.values(shared).every((result) => result === "ok")) {
        return report(200, { status: "healthy", uptime, version });
      }
      return report(isHealthy ? 200 : 503, { status: isHealthy ? "degraded" : "unhealthy", uptime, version, checks });
    },
  };
}

/** Runs all checks at once. The report has only names and results: an error may hold addresses and paths. */
async function ask(probes: readonly Probe[]): Promise<Record<string, "ok" | "failing">> {
  const results = await Promise.all(
    probes.map(async ([name, passes]) => [name, (await passes()) ? "ok" : "failing"] as const),
  );
  const failing = results.filter(([, result]) => result === "failing");
  return Object.fromEntries([...results, ...failing]); // a host may have several storages
}

function report(status: number, body: object, headers: Reply["headers"] = {}): Reply {
  return jsonReply(status, body, { ...headers, "cache-control": "no-store" });
}
