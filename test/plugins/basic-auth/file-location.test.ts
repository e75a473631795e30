import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { fileLocation } from "../../../src/plugins/basic-auth/file-location.ts";

it("takes an absolute path, and one relative to the working directory", () => {
  expect(fileLocation("/srv/users.html")).toBe("/srv/users.html");
  expect(fileLocation("users.html")).toBe(join(process.cwd(), "users.html"));
  expect(fileLocation("../a%20b#c?d")).toBe(join(process.cwd(), "../a%20b#c?d"));
});

it("takes a file URL", () => {
  expect(fileLocation(pathToFileURL("/srv/ä b%.html").href)).toBe("/srv/ä b%.html");
  expect(fileLocation("FILE://localhost/srv/users.html")).toBe("/srv/users.html");
});

it.each([
  ["", "not an empty text"],
  [" ", "not an empty text"],
  ["a\0b", "without NUL"],
  ["https://example.org/users.html", "not https://"],
  ["file:users.html", "such as file:///srv/users.html"],
  ["file:/srv/users.html", "such as file:///srv/users.html"],
  ["file://./users.html", "such as file:///srv/users.html"],
  ["file://server/users.html", "such as file:///srv/users.html"],
  ["file:///a%2Fb", "such as file:///srv/users.html"],
  ["file:///a%zz", "such as file:///srv/users.html"],
  ["file:///a%00b", "such as file:///srv/users.html"],
])("refuses %j, and says what it expects", (location, expected) => {
  expect(() => fileLocation(location)).toThrow(/^expected /);
  expect(() => fileLocation(location)).toThrow(expected);
});
