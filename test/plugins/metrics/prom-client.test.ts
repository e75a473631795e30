import * as imported from "prom-client";
import { describe, expect, it } from "vitest";
import { loadPromClient, promClient } from "../../../src/plugins/metrics/prom-client.ts";

describe("promClient", () => {
  it("is the library that programs import, so that they share registries", async () => {
    await loadPromClient();
    expect(promClient().register).toBe(imported.register);
    expect(promClient().Registry).toBe(imported.Registry);
  });
});
