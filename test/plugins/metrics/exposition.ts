// @ts-expect-error: the package ships no types
import untypedParse from "parse-prometheus-text-format";
import type { FileServer } from "../../../src/file-server.ts";

/** A family of metrics as an independent parser reads it. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly metrics: readonly { readonly labels?: Readonly<Record<string, string>>; readonly value?: string }[];
}

/** An independent parser of the exposition format. */
export const parseFamilies: (text: string) => Family[] = untypedParse;

const sample = /^([a-z_:][a-z\d_:]*(?:\{(?:[a-z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*\})?) (\S+)$/i;

/** The samples of an exposition, each under its name and labels as they are spelled; throws for a line that is none. */
export function samplesIn(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("# ")) continue;
    const [, series = "", value = ""] = sample.exec(line) ?? [];
    // prom-client says "Nan" of a mean of nothing, which Prometheus reads.
    const isNumber = !Number.isNaN(Number(value)) || (value === "Nan" && series.startsWith("nodejs_eventloop_lag_"));
    if (series === "" || samples.has(series) || !isNumber) throw new Error(`not a sample: ${line}`);
    samples.set(series, Number(value));
  }
  return samples;
}

/** What `GET /metrics` tells. */
export async function scrape(files: FileServer, path = "/metrics"): Promise<Map<string, number>> {
  const response = await files.fetch(new Request(`http://localhost${path}`));
  if (response.status !== 200) throw new Error(`GET ${path} was answered ${response.status}`);
  return samplesIn(await response.text());
}
