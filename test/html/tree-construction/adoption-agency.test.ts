import { expect, it } from "vitest";
import { bodyOf } from "../reading.ts";

it.each([
  ["<b>1<p>2</b>3</p>", "<b>1</b><p><b>2</b>3</p>"],
  ["<b>1<i>2<p>3</b>4", "<b>1<i>2</i></b><i><p><b>3</b>4</p></i>"],
  ["<a><p></a></p>", "<a></a><p><a></a></p>"],
  ["<b><i><u><s><p>1</b>2", "<b><i><u><s></s></u></i></b><i><u><s><p><b>1</b>2</p></s></u></i>"],
  ["<b><i><u><s><em><p>1</b>2", "<b><i><u><s><em></em></s></u></i></b><u><s><em><p><b>1</b>2</p></em></s></u>"],
  ["<b><em>1</b>2", "<b><em>1</em></b><em>2</em>"],
  ["<b><span><p>1</b>2", "<b><span></span></b><p><b>1</b>2</p>"],
  ["<b><object></b>1", "<b><object>1</object></b>"],
  ["<p><b></p></b>1", "<p><b></b></p>1"],
  ["<table><b>1<tr>2</b>3", "<b>1</b><b>2</b>3<table><tbody><tr></tr></tbody></table>"],
  ["<b><template><p></b>1", "<b><template><p>1</p></template></b>"],
])("ends formatting across %s", async (html, body) => {
  expect(await bodyOf(html)).toBe(body);
});

it("ends formatting across eight blocks, and no more at once", async () => {
  const blocks = "<div>".repeat(9);
  expect((await bodyOf(`<b>${blocks}x</b>y`)).match(/<b>/g)).toHaveLength(9);
});
