const xhtml = 'xmlns="http://www.w3.org/1999/xhtml"';
const strict = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">';

/** XML that Chromium reads. */
export const wellFormed: readonly string[] = [
  ...'<a/>|<a></a >| <a/> |<a b = \'1\'/>|<a b=">"/>|<a b="&amp;"/>|<a>&#x41;</a>|<a>]] ></a>|<a><![CDATA[x<y]]></a>'.split(
    "|",
  ),
  ...'<a><!-- - --></a>|<!--x--><a/><!--y-->|<a><?p x?></a>|<?xml version="1.0"?><a/>|<a><?p a>b?></a>'.split("|"),
  ...'<a:b xmlns:a="u"/>|<a xmlns:x="u" x:b="1"/>|<a1-._/>|<é/>|<a é="1"/>|<!DOCTYPE a><a/>'.split("|"),
  ...'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>|<!DOCTYPE a [<!ENTITY x "<b/>">]><a>&lt;</a>'.split("|"),
  ...`${strict}<html ${xhtml}>&nbsp;&eacute;</html>|<a \n b="1"\t/>|<a b='"' c="'"/>|<a>></a>`.split("|"),
  ...'<a xml:lang="en" xml:x="1"/>|<a xmlns="u"><b xmlns=""/></a>|<a>x</a>\n<!-- c -->\n|<?xmlx y?><a/>'.split("|"),
  ...'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><a/>|<!DOCTYPE a []><a/>'.split("|"),
  '<!DOCTYPE a PUBLIC "x" "y" [<!-- ] -->]><a/>',
  "<!DOCTYPE a [<?p ]?> <!ENTITY % x ']'>]><a/>",
  '<a b="&#10;" c="\n"/>',
];
/** XML that Chromium shows an error for. */
export const illFormed: readonly string[] = [
  "",
  ...'<a>|</a>|<a></ a>|< a/>|<a/>x|<a/><b/>|<a b=c/>|<a b/>|<a b="1" b="2"/>|<a b="1"c="2"/>|<a b="<"/>'.split("|"),
  ...'<a b="&"/>|<a>&</a>|<a>&#0;</a>|<a>&#xD800;</a>|<a>&nbsp;</a>|<a>&amp</a>|<a>&#38</a>|<a>&a b;</a>'.split("|"),
  ..."<a>]]></a>|<a><![CDATA[x]]</a>|<![CDATA[x]]><a/>|<a><!-- -- --></a>|<a><!-- ---></a>|<a><!--x--!></a>".split("|"),
  ...'<a><?p x></a>|<a><??></a>|<a><?xml x?></a>| <?xml version="1.0"?><a/>|<?XML version="1.0"?><a/>'.split("|"),
  ...'<?xml encoding="UTF-8"?><a/>|<?xml version="2.0"?><a/>|<a:b/>|<a x:b="1"/>|<:a/>|<a: xmlns:a="u"/>'.split("|"),
  ...'<a xmlns:x="u" xmlns:y="u" x:b="1" y:b="2"/>|<a:b:c xmlns:a="u"/>|<1a/>|<a><b></a></b>|<a></a></a>'.split("|"),
  ...'<!doctype a><a/>|<a/><!DOCTYPE a>|<!DOCTYPE a [<!ENTITY x "y&x;">]><a>&x;</a>|<a / >|<a b="1"/ >'.split("|"),
  ...'<a/b="1">|<a>\x01</a>|<a>\ufffe</a>|<a xmlns:b=""/>|<a xmlns:xml="u"/>|<a xmlns:xmlns="u"/>|x'.split("|"),
  ...'<!DOCTYPE><a/>|<!DOCTYPE a PUBLIC "x"><a/>|<!ELEMENT a><a/>|<a><!DOCTYPE a></a>|<a><</a>|<a>&x;</a>|<a'.split(
    "|",
  ),
];
