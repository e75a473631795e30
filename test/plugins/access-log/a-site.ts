import type { Site } from "../../../src/server/site.ts";

/** As much of a host as a sink needs, and what it was told. */
export interface TestSite {
  readonly site: Site;
  readonly reports: string[];
  readonly warnings: object[];
  readonly protectedPlaces: string[];
}

/** Makes a host that remembers what it is told. */
export function aSite(): TestSite {
  const reports: string[] = [];
  const warnings: object[] = [];
  const protectedPlaces: string[] = [];
  const site = {
    report: (error: unknown) => reports.push(String(error)),
    logger: { debug: () => {}, info: () => {}, warn: (fields: object) => warnings.push(fields), error: () => {} },
    protect: async (location: string) => void protectedPlaces.push(location),
  } as unknown as Site;
  return { site, reports, warnings, protectedPlaces };
}
