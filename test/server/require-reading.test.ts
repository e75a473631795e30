import { expect, it } from "vitest";
import { HttpError } from "../../src/http/http-error.ts";
import { permitAll } from "../../src/server/access.ts";
import { requireReading } from "../../src/server/require-reading.ts";

it.each(["GET", "HEAD"])("lets %s pass", (method) => {
  expect(() => requireReading({ method, path: "/metrics", access: permitAll })).not.toThrow();
});

it("answers another method with 405 and what is supported", () => {
  expect(() => requireReading({ method: "PUT", path: "/metrics", access: permitAll })).toThrow(
    expect.objectContaining({ status: 405, code: "METHOD_NOT_ALLOWED", headers: { allow: "GET, HEAD" } }),
  );
});

it("refuses before it says what is supported", () => {
  const refusal = new HttpError(401, "UNAUTHORIZED", "Sign in.");
  const access = { permits: () => false, refusal: () => refusal };
  expect(() => requireReading({ method: "PUT", path: "/metrics", access })).toThrow(refusal);
});
