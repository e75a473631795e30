import { expect, it } from "vitest";
import { bodyOf } from "../reading.ts";

it.each([
  ["<div><p>a</div>b", "<div><p>a</p></div>b"],
  ["<div>a</section>b</div>c", "<div>ab</div>c"],
  ["a</p>b", "a<p></p>b"],
  ["<p>a<button></p>b", "<p>a<button><p></p>b</button></p>"],
  ["<ul><li>a</li>b</li>c", "<ul><li>a</li>bc</ul>"],
  ["<li>a<ul></li>b", "<li>a<ul>b</ul></li>"],
  ["<dl><dt>a</dd>b</dt>c", "<dl><dt>ab</dt>c</dl>"],
  ["<h1>a</h2>b", "<h1>a</h1>b"],
  ["a</h1>b", "ab"],
  ["<form><div>a</form>b", "<form><div>ab</div></form>"],
  ["a</form>b", "ab"],
  ["<p><template><form>a</form><form>b</template>", "<p><template><form>a</form><form>b</form></template></p>"],
  ["<object><b>a</object>b", "<object><b>a</b></object>b"],
  ["a</br>b", "a<br>b"],
  ["<span><x-y>a</span>b", "<span><x-y>a</x-y></span>b"],
  ["<x-y><div>a</x-y>b", "<x-y><div>ab</div></x-y>"],
  ["a</template>b", "ab"],
  ["<b>a</b></b>b", "<b>a</b>b"],
])("reads %j", async (html, body) => {
  expect(await bodyOf(html)).toBe(body);
});
