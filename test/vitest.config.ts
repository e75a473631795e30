import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["test/**/*.test.ts"],
    maxWorkers: 2, // vitest would leave one of two cores idle
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
