import * as imported from "prom-client";
import { describe, expect, it } from "vitest";
import { promClient } from "../../../src/plugins/metrics/prom-client.ts";

describe("promClient", () => {
  it("is the library that programs import, so that they share registries", () => {
    expect(promClient().register).toBe(imported.register);
    expect(promClient().Registry).toBe(imported.Registry);
  });
});
