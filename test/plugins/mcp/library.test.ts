import { describe, expect, it, vi } from "vitest";
import { createFileServer } from "../../../src/file-server.ts";
import { mcp } from "../../../src/plugins/mcp.ts";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";

vi.mock("@modelcontextprotocol/server", () => {
  throw new Error("Cannot find package");
});

describe("mcp without the library of the protocol", () => {
  it("does not start, and says what to install", async () => {
    const files = createFileServer({ storage: memoryStorage(), plugins: [mcp()] });
    await expect(files.ready()).rejects.toThrow(
      "mcp: the package @modelcontextprotocol/server is missing: npm install @modelcontextprotocol/server",
    );
    await files.close();
  });
});
