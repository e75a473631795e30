const content = `
<title>Rich</title><meta charset=utf-8><meta http-equiv=Content-Language content=fr>
<link rel=Stylesheet href=none.css id=css><style id=style>p { color: red }</style>
<body id=body class="Body main">
<!-- comment -->
<header id=top lang=en-US class="a b c" data-x="One two" title=""><h1 id=h1 class=a>One</h1><h2 id=h2>Two</h2></header>
<nav id=nav><a id=a1 href="#x" rel="NoFollow noopener" class="b" hreflang=EN>x</a><a id=a2 name=y target=_BLANK>y</a>
<map id=map><area id=area href=z shape=RECT><area id=area2></map></nav>
<main id=main lang=de-Latn-DE>
<ul id=list TYPE=Disc><li id=l1 class=x>1<li id=l2>2<!-- c --><li id=l3 class="x y">3<li id=l4>4<li id=l5 class=y>5</ul>
<ol id=ol type=a><li id=o1><p id=op1>t<li id=o2 class=x><p id=op2>t<p id=op3 class=x>u</ol>
<p id=empty></p><p id=blank> </p><p id=commented><!-- c --></p><p id=text>text<span id=span>in</span></p>
<p id=tabs class="one	two
three"></p><p id=nbsp class="four five"></p><p id=Upper class=UPPER></p><p id=kelvin class=\u212a data-x="\u212a \u017f"></p>
<dl id=dl><dt id=dt>t<dd id=dd>d<dt id=dt2>t</dl>
<table id=table align=CENTER><caption id=cap>c<colgroup id=cg><col id=col><tr id=r1 valign=TOP><td id=c1>1<td id=c2 class=x>2<tr id=r2><th id=c3 scope=ROW>3<td id=c4>4</table>
<table id=bare><td id=bc>x</table>
</main>
<section id=langs lang=""><p id=la lang=en>a<p id=lb lang=en-GB>b<p id=lc lang=EN>c<p id=ld lang=english>d<p id=le>e<p id=lf lang=zh-Hant-TW>f
<p id=lg xml:lang=it>g<p id=lh lang=sr-Latn-RS>h<span id=li>i</span></section>
<section id=dirs dir=RTL><p id=da>a<p id=db dir=ltr>b<p id=dc dir=auto>שלום<p id=dd1 dir=auto>abc<p id=de dir=auto>123<bdi id=df>שלום</bdi><bdi id=dg>abc</bdi>
<p id=dh dir=auto><bdi id=dh1>שלום</bdi>abc<p id=di dir=foo>x<input id=dj type=tel><input id=dk dir=auto value=שלום><textarea id=dl1 dir=auto>שלום</textarea>
<svg id=dsvg><text id=dtext dir=ltr>t</text></svg><p id=dm dir=auto><span id=dm1 dir=ltr>abc</span>שלום<p id=dn dir=auto><script>abc</script>عربي<input id=do dir=auto>
<p id=dp dir=auto>𐤀x<p id=dq dir=""><p id=dr dir="ltr "><input id=ds dir=auto type=number value=1><bdi id=dt1 dir=ltr>שלום</bdi><bdi id=du dir=foo>abc</bdi></section>
<form id=form name=f><input id=i1><input id=i2 type=TEXT required><input id=i3 type=checkbox checked><input id=i4 type=checkbox>
<input id=r11 type=radio name=g><input id=r12 type=radio name=g checked><input id=r13 type=Radio name=g checked><input id=r21 type=radio name=h><input id=r22 type=radio name=h required>
<input id=r31 type=radio><input id=r32 type=radio checked><input id=r41 type=radio name=H checked>
<input id=i5 readonly><input id=i6 disabled><input id=i7 placeholder=p><input id=i8 placeholder=p value=v><input id=i9 placeholder="" type=search><input id=i10 type=checkbox placeholder=p>
<input id=i11 type=number min=1 max=5 value=3><input id=i12 type=number min=1 max=5 value=9><input id=i13 type=number><input id=i14 type=range min=1 max=5 value=9>
<input id=i15 type=email value=x><input id=i16 type=email value=a@b.c><input id=i17 type=url value=nope><input id=i18 type=url value=http://x.y/><input id=i19 type=date min=2020-01-01 value=2019-05-05>
<input id=i20 type=hidden required><input id=i21 type=submit disabled><input id=i22 type=submit><input id=i23 type=image><input id=i24 type=color required><input id=i25 type=file required>
<input id=i26 type=number step=2 value=3><input id=i27 type=number value=abc required><input id=i28 type=foo placeholder=x required><input id=i29 required value=" "><input id=i30 type=time min=10:00 max=12:00 value=11:00>
<input id=i31 type=number max=5 placeholder=n><input id=i32 type=password required readonly><input id=i33 type=checkbox required><input id=i34 type=button value=b><input id=i35 type=reset>
<input id=i36 type=month min=2020-01 value=2019-12><input id=i37 type=week max=2020-W10 value=2020-W11><input id=i38 type=datetime-local min=2020-01-01T00:00 value=2021-01-01T00:00><input id=i39 type=email multiple value="a@b.c, d@e.f">
<button id=b1>b</button><button id=b2 type=button>b</button><button id=b3 type=reset disabled>b</button>
<textarea id=t1></textarea><textarea id=t2 placeholder=p></textarea><textarea id=t3 placeholder=p required>x</textarea><textarea id=t4 readonly disabled></textarea><textarea id=t5 required></textarea><textarea id=t6 placeholder=p>
</textarea>
<select id=s1><option id=op11>1<option id=op12>2</select><select id=s2 required><option id=op21 value="">0<option id=op22 selected>2<option id=op23 selected>3</select>
<select id=s3 multiple><option id=op31 selected>1<option id=op32 selected>2<option id=op33>3</select><select id=s4 size=3><option id=op41>1</select><select id=s5><optgroup id=og disabled><option id=op51>1<option id=op52 disabled>2</optgroup><option id=op53 disabled>3<option id=op54>4</select>
<select id=s6 required><option id=op61 value="">choose<option id=op62>2</select><select id=s7 disabled><option id=op71>1</select><select id=s8></select><select id=s9 required multiple><option id=op91>1</select>
<datalist id=datalist><option id=dlo value=1><option id=dlo2 selected></datalist><option id=lone selected>l</option>
<fieldset id=fs1 disabled><legend id=lg1><input id=fi1><fieldset id=fs2><input id=fi2></fieldset></legend><legend id=lg2><input id=fi3></legend><input id=fi4><fieldset id=fs3><legend id=lg3><input id=fi5></legend></fieldset><object id=obj1></object></fieldset>
<fieldset id=fs4><input id=fi6 required><output id=out>o</output><keygen id=keygen></fieldset>
<progress id=pr1></progress><progress id=pr2 value=1></progress><meter id=mt value=1></meter><label id=lab for=i1>l</label></form>
<form id=form2><input id=ff1 type=radio name=g><button id=ff2 type=submit>s</button></form><input id=outside form=form type=radio name=g><button id=bout form=form2>x</button><input id=orph type=radio name=g checked>
<details id=d1 open><summary id=sum>s</summary><p id=dp1>x</details><details id=d2><p id=dp2></details><dialog id=dlg1 open></dialog><dialog id=dlg2></dialog><div id=pop popover></div>
<x-custom id=cust><x-inner id=inner></x-inner></x-custom><p id=cbuiltin is=x-p></p><button id=cbutton is=x-b></button><unknown id=unk></unknown><font-face id=ff></font-face><annotation-xml id=annx></annotation-xml>
<div id=edit contenteditable><p id=ed1>x<span id=ed2 contenteditable=false>y<b id=ed3 contenteditable=TRUE>z</b></span><input id=edi disabled></div><div id=edit2 contenteditable=plaintext-only></div><div id=edit3 contenteditable=foo></div>
<svg id=svg viewBox="0 0 1 1" class="x svgclass" xmlns:xlink="http://www.w3.org/1999/xlink"><linearGradient id=lin gradientUnits=x></linearGradient><a id=sa xlink:href=x xml:lang=es><text id=stext CLASS=Big>t</text></a><a id=sa2 href=y></a><a id=sa3></a><use id=use xlink:href="#lin" type=Foo></use><foreignObject id=fo><p id=fop TYPE=Foo>html</p></foreignObject><circle id=circle r=1 /><style id=sstyle></style><title id=stitle>t</title></svg>
<math id=math><mi id=mi definitionurl=x>x</mi><mrow id=mrow href=x><mi id=mi2>y</mi></mrow><annotation-xml id=ann encoding=text/html><b id=annb>b</b></annotation-xml></math>
<template id=tpl><p id=intpl class=x>hidden</p></template><noscript id=ns><p id=inns>x</p></noscript><iframe id=frame></iframe><audio id=audio controls muted></audio><video id=video></video>
<div id=1digit class=1a data-1="x"></div><div id="a:b" class="c.d e[f]"></div><div id="ünïcode" class="日本 😀"></div><o:p id=op data-empty="" data-dash="en-US">o</o:p><div id=dup class=first></div><div id=dup class=second></div>
<div id=deep><div><div class=x><div><div class=y><b id=deepb class=x></b><i id=deepi></i></div></div></div></div></div><p id=last accept-charset=UTF-8 foo=Bar data-K="v" METHOD=Post><img id=img alt=A src=none.png ALIGN=Left><br id=br><wbr id=wbr><hr id=hr noshade></p>
<div id=xl xlink:href=html xmlns=foo xml:lang=pt></div><slot id=slot name=s></slot><object id=object></object><embed id=embed><a id=amath href></a><img id=mapped usemap=#map>
`;

/** Attributes whose values HTML compares in any case, and some others, on elements of HTML and of SVG. */
const attributes = (
  "accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir " +
  "direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref noresize " +
  "noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype vlink " +
  "title name content value data-x foo"
)
  .split(" ")
  .map((name) => `<z-z ${name}=VaLue></z-z><svg><z ${name}=VaLue></z></svg>`)
  .join("");

/** A page with something of everything that a selector can ask for, in standards mode and in quirks mode. */
export const richPages: Readonly<Record<"standards" | "quirks", string>> = {
  standards: `<!doctype html><html id=html class=Root>${content}${attributes}`,
  quirks: `<html id=html class=Root>${content}${attributes}`,
};
