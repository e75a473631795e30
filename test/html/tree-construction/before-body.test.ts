import { expect, it } from "vitest";
import { parseHtml } from "../../helpers/parse-html.ts";
import { bodyOf, pageOf } from "../reading.ts";

it.each([
  ["", "<html><head></head><body></body></html>"],
  [" \n<!--a--> <!doctype html> <!--b--> x", "<!--a--><!doctype html><!--b--><html><head></head><body>x</body></html>"],
  [
    "<html a=b> <head c=d> <title>t&amp;</title> </head> <body e=f> x",
    '<html a="b"><head c="d"> <title>t&amp;</title> </head> <body e="f"> x</body></html>',
  ],
  ["</p></br>x", "<html><head></head><body><br>x</body></html>"],
  ["<head></head><title>a</title><p>", "<html><head><title>a</title></head><body><p></p></body></html>"],
  ["<head><head></head><head></head>x", "<html><head></head><body>x</body></html>"],
  ["<head></head></head></p>x", "<html><head></head><body>x</body></html>"],
  ["<noscript><p></noscript>", "<html><head><noscript><p></noscript></head><body></body></html>"],
  ["\0<title>a</title>", "<html><head><title>a</title></head><body></body></html>"],
  ["<link><html x=y><base>z", '<html x="y"><head><link><base></head><body>z</body></html>'],
  ["<template><p></template></head>", "<html><head><template><p></p></template></head><body></body></html>"],
])("reads the beginning of %j", async (html, page) => {
  expect(await pageOf(html)).toBe(page);
});

it.each([
  ["<!doctype html><p>", "no-quirks"],
  ["<p>", "quirks"],
  ["<!doctype html system 'about:legacy-compat' x><p>", "no-quirks"],
  ["<!doctype html public '-//w3c//dtd xhtml 1.0 transitional//'><p>", "limited-quirks"],
])("knows the mode of %s", async (html, mode) => {
  expect((await parseHtml(html)).root.mode).toBe(mode);
});

it.each([
  ["<td>a</td><td>b", "<td>a</td><td>b</td>"],
  ["<tr><td>a", "<tr><td>a</td></tr>"],
  ["<col><col>", "<col><col>"],
  ["<col>a<p>", "<col>"],
  ["<col> a b&#32;<td>", "<col>   "],
  ["<tbody><b></table> <i>", "<tbody></tbody><b></b><b> <i></i></b>"], // as in Chromium
  ["<p>a<td>b", "<p>ab</p>"],
  ["<template>a</template>b", "<template>a</template>b"],
  ["</p></div>a", "a"],
  ["<html b=c><body d=e>a", "a"],
  ["<style>a</style><td>b", "<style>a</style><td>b</td>"],
])("reads %j as what a template holds", async (html, content) => {
  expect(await bodyOf(`<body><template>${html}</template>`)).toBe(`<template>${content}</template>`);
});

it("keeps formatting within it", async () => {
  expect(await bodyOf("<b><template><i>a</template>b")).toBe("<b><template><i>a</i></template>b</b>");
});

it("ends all of them with the page", async () => {
  expect(await bodyOf("<body><template><template><p>a")).toBe("<template><template><p>a</p></template></template>");
});
