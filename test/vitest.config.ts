import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["test/**/*.test.ts"],
    maxWorkers: 3, // for two cores: much of the time tests wait for processes, browsers and disks
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
