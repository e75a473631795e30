import { Parser } from "parse5";
import { HtmlTreeAdapter } from "/work/main/dist/elements/html-tree.js";
const M=16*1024*1024;
const rep=(s,n=M)=>s.repeat(Math.ceil(n/s.length)).slice(0,n);
const flat=s=>Buffer.from(s,"latin1").toString("latin1");
const docs={ oneWord: rep("a"), text: rep("abc def\n"), comment:"<!--"+rep("x"), commentd:"<!--"+rep("-"), bigattr:'<a b="'+rep("x")+'">', script:"<script>"+rep("var a = 1; \n"), attrs:"<a "+Array.from({length:M/9/8},(_,i)=>"a"+i).join(" ")+">", nul: rep("\0"),nulscript: "<script>"+rep("\0"), ent: rep("&amp;"), attrent:'<a b="'+rep("&amp;")+'">', tagname:"<"+rep("x"), attrname:"<x "+rep("x"),doctype:"<!doctype "+rep("x"), title:"<title>"+rep("</titl"),u16:rep("é€ab"), svgcd:"<svg><![CDATA["+rep("]"), cr:rep("\r\n")};
for(const [k,s0] of Object.entries(docs)){ const s=flat(s0)===s0?flat(s0):s0;
 for(const piece of [0,65536,262144]){ 
 const p=new Parser({treeAdapter:new HtmlTreeAdapter(512),sourceCodeLocationInfo:true});
 const t=performance.now(); let max=0, n=0;
 if(!piece) p.tokenizer.write(s,true); else for(let i=0;;){ const len=Math.max(piece,p.tokenizer.preprocessor.html.length>>6); const t0=performance.now(); p.tokenizer.write(s.slice(i,i+len),i+len>=s.length); i+=len; n++; max=Math.max(max,performance.now()-t0); if(i>=s.length)break; }
 const d=performance.now()-t;
 console.log(k.padEnd(10),String(piece).padStart(7),d.toFixed(0).padStart(7)+"ms", "max",max.toFixed(0), "n",n, (s.length/1e6/d*1e3).toFixed(1)+"MB/s", "rss",(process.memoryUsage().rss/1e6).toFixed(0));
 }}
