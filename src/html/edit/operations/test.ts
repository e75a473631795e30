import { atHand } from "../../../event-loop/sliced-work.ts";
import type { Operation } from "./operation.ts";

export const test: Operation<"test"> = {
  fields: {},
  affects: (_edit, elements) => [{ effect: "reads", elements }],
  make: () => atHand(undefined),
};
