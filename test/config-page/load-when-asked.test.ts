import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config-page/load-when-asked.ts";
import { configDirectory, hostPage } from "./pages.ts";

describe("loadConfig", () => {
  it("reads a page, as a path or as a location", async () => {
    const directory = await configDirectory(hostPage(""));
    const page = join(directory, "config.html");
    const config = await loadConfig(page);
    expect(config.hosts).toEqual({ localhost: expect.objectContaining({ root: join(directory, "site") }) });
    expect(await loadConfig(new URL(`file://${page}`))).toEqual(config);
  });
});
