import { expect, it } from "vitest";
import { bodyOf } from "../reading.ts";

it.each([
  ["<p>a<button></p>b", "<p>a<button><p></p>b</button></p>"],
  ["<li>a<ul></li>b", "<li>a<ul>b</ul></li>"],
  ["<dl><dt>a</dd>b</dt>c", "<dl><dt>ab</dt>c</dl>"],
  ["<h1>a</h2>b", "<h1>a</h1>b"],
  ["<form><div>a</form>b", "<form><div>ab</div></form>"],
  ["<p><template><form>a</form><form>b</template>", "<p><template><form>a</form><form>b</form></template></p>"],
  ["<object><b>a</object>b", "<object><b>a</b></object>b"],
  ["a</br>b", "a<br>b"],
  ["<span><x-y>a</span>b", "<span><x-y>a</x-y></span>b"],
  ["<x-y><div>a</x-y>b", "<x-y><div>ab</div></x-y>"],
])("reads %j", async (html, body) => {
  expect(await bodyOf(html)).toBe(body);
});

it.each([
  ["<b>1<p>2</b>3</p>", "<b>1</b><p><b>2</b>3</p>"],
  ["<b>1<i>2<p>3</b>4", "<b>1<i>2</i></b><i><p><b>3</b>4</p></i>"],
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
