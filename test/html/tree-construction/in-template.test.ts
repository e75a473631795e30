import { expect, it } from "vitest";
import { bodyOf } from "../reading.ts";

it.each([
  ["a<p>b", "a<p>b</p>"],
  ["<td>a</td><td>b", "<td>a</td><td>b</td>"],
  ["<tr><td>a", "<tr><td>a</td></tr>"],
  ["<tbody><tr>", "<tbody><tr></tr></tbody>"],
  ["<col><col>", "<col><col>"],
  ["<col>a<p>", "<col>"],
  ["<p>a<td>b", "<p>ab</p>"],
  ["<template>a</template>b", "<template>a</template>b"],
  ["</p></div>a", "a"],
  ["<html b=c><body d=e>a", "a"],
  ["<style>a</style><td>b", "<style>a</style><td>b</td>"],
  ["<b>a", "<b>a</b>"],
])("reads %j as what a template holds", async (html, content) => {
  expect(await bodyOf(`<body><template>${html}</template>`)).toBe(`<template>${content}</template>`);
});

it("keeps formatting within it", async () => {
  expect(await bodyOf("<b><template><i>a</template>b")).toBe("<b><template><i>a</i></template>b</b>");
});

it("ends all of them with the page", async () => {
  expect(await bodyOf("<body><template><template><p>a")).toBe("<template><template><p>a</p></template></template>");
});
