import type { Operation } from "./operation.ts";

export const remove: Operation<"remove"> = {
  fields: {},
  affects: (_edit, elements) => [{ effect: "removes", elements }],
  make: (page, _edit, matches) => page.change(matches, page.language.remove),
};
