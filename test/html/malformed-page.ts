/** What malformed pages are made of. */
const parts = [
  ..."<b>|</b>|<i>|</i>|<a href=x>|</a>|<font size=1>|<font size=2>|</font>|<nobr>|</nobr>|<code>|</code>".split("|"),
  ..."<p>|</p>|<div>|</div>|<h1>|</h1>|<h2>|<pre>\n|</pre>|<ul>|<li>|</ul>|<dl>|<dt>|<dd>|<center>|</center>".split(
    "|",
  ),
  ..."<table>|</table>|<caption>|<col>|<colgroup>|<tbody>|<tr>|</tr>|<td>|</td>|<th>|<form>|</form>|<form id=f>".split(
    "|",
  ),
  ..."<select>|</select>|<option>|</option>|<optgroup>|</optgroup>|<hr>|<input>|<input type=hidden>|<button>".split(
    "|",
  ),
  ..."</button>|<textarea>\n|</textarea>|<title>|</title>|<style>|</style>|<noscript>|</noscript>|<xmp>|</xmp>".split(
    "|",
  ),
  ..."<svg>|</svg>|<g>|<path/>|<foreignObject>|</foreignObject>|<desc>|<math>|</math>|<mi>|<mglyph>|<x-y>".split("|"),
  ..."<annotation-xml encoding=text/html>|<annotation-xml>|<![CDATA[x]]>|<template>|</template>|<ruby>|<rt>|<rp>".split(
    "|",
  ),
  ..."<body a=b>|<html c=d>|</body>|</html>|<head>|</head>|<frameset>|<frame>|</frameset>|<object>|</object>".split(
    "|",
  ),
  ..."<!--c-->|<!doctype html>|</ x>|<!x>|text|x y| |\n|\r\n|\0|&amp;|&copy|&#13;|<br>|</br>|<img>|<image>".split("|"),
];

/** A page of up to 20 tags, texts and comments in any order. */
export function malformedPage(random: () => number): string {
  const length = 1 + Math.floor(random() * 20);
  return Array.from({ length }, () => parts[Math.floor(random() * parts.length)] ?? "").join("");
}
