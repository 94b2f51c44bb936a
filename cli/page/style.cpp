#include "page/style.hpp"

namespace stope::cli::page {
namespace {

// The colours of classes are Okabe and Ito's, which people with any colour vision tell apart, darkened for white and
// lightened for black so that each has a contrast of 3 to 1 at least. Shapes, textures and labels say the same.
constexpr Literal kStyle = R"(
:root{color-scheme:light dark;--page:#fff;--card:#f7f8fa;--ink:#1b2430;--soft:#4f5b6b;--line:#d9dee6;--grid:#e7ebf0;
--link:#0b5cad;--strong:#14508c;--warn:#fff6e0;--warn-line:#a86a00;
--c0:#0067a8;--c1:#c65a00;--c2:#007a59;--c3:#a8457f;--c4:#7a6a00;--c5:#2f86bd;--c6:#6b7280}
@media (prefers-color-scheme:dark){:root{--page:#12161c;--card:#1a2029;--ink:#e8ecf2;--soft:#a9b4c3;--line:#323b48;
--grid:#28303c;--link:#7db8f2;--strong:#8cc4f7;--warn:#2d2410;--warn-line:#e0a53d;
--c0:#56a9e0;--c1:#f08a3c;--c2:#2fbf94;--c3:#e08fc0;--c4:#d9c940;--c5:#9cc9ea;--c6:#98a2b3}}
@media print{:root{color-scheme:light;--page:#fff;--card:#fff;--ink:#000;--soft:#333;--line:#aaa;--grid:#ddd;--link:#000;
--strong:#14508c;--warn:#fff;--warn-line:#a86a00;
--c0:#0067a8;--c1:#c65a00;--c2:#007a59;--c3:#a8457f;--c4:#7a6a00;--c5:#2f86bd;--c6:#6b7280}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Noto Sans",sans-serif;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.wrap{max-width:1080px;margin:0 auto;padding:0 20px}
.skip{position:absolute;left:-999px;top:0;background:var(--page);color:var(--link);padding:10px 16px;z-index:2}
.skip:focus{left:8px;top:8px}
a{color:var(--link);text-underline-offset:2px}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
header{padding:36px 0 8px}
h1{font-size:30px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em}
h2{font-size:22px;line-height:1.3;margin:0 0 6px;letter-spacing:-.005em}
h3{font-size:16px;line-height:1.35;margin:22px 0 6px;font-weight:650}
.card h3{margin:0}
p{margin:0 0 12px;max-width:72ch}
.soft,figcaption,.facts{color:var(--soft)}
.small,.facts,figcaption,details,.legend{font-size:14px;line-height:1.45}
nav{border-block:1px solid var(--line);margin:16px 0 0}
nav ul{display:flex;flex-wrap:wrap;gap:0 20px;list-style:none;margin:0;padding:6px 0}
nav a{font-size:15px;display:inline-block;padding:5px 0;text-decoration:none}
nav a:hover{text-decoration:underline}
section{padding:34px 0 6px;scroll-margin-top:8px}
section+section{border-top:1px solid var(--line)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:14px 0 20px;padding:0}
.tiles div{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 16px}
.tiles dt{font-size:13px;color:var(--soft)}
.tiles dd{margin:0;font-size:23px;font-weight:650;line-height:1.3}
.tiles dd+dd{font-size:13px;font-weight:400;color:var(--soft);line-height:1.4}
ul.said{margin:0 0 14px;padding-left:20px;max-width:76ch}
ul.said li{margin:0 0 6px}
.note{background:var(--warn);border-left:4px solid var(--warn-line);padding:10px 14px;border-radius:0 6px 6px 0;
margin:0 0 14px;max-width:76ch}
.note p:last-child,.note ul:last-child{margin-bottom:0}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(320px,100%),1fr));gap:14px;margin:14px 0 18px}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px 10px;min-width:0;
display:flex;flex-direction:column}
.card .head{display:flex;justify-content:space-between;gap:10px;align-items:baseline}
.card .kind{color:var(--soft);font-size:13px;white-space:nowrap;overflow-wrap:normal}
.card .facts{margin:3px 0 8px}
.card .cut{margin:0 0 6px;font-size:14px;line-height:1.45}
.card details{margin-top:auto}
figure{margin:0 0 14px;min-width:0}
.card figure{margin:0 0 6px}
figcaption{margin:6px 0 0;max-width:76ch}
svg{display:block;max-width:100%;height:auto;font-family:inherit}
.scroll{overflow-x:auto;max-width:100%}
.scroll svg{max-width:none}
.wide{width:100%}
text{fill:var(--ink);font-size:12px}
text.soft{fill:var(--soft)}
text.bold{font-weight:650}
text.mid{text-anchor:middle}
text.end{text-anchor:end}
.axis{stroke:var(--soft);stroke-width:1;fill:none}
.grid{stroke:var(--grid);stroke-width:1;fill:none}
.plain{fill:var(--c0)}
.track{fill:var(--grid)}
.cutline{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:4 3;fill:none}
.base{stroke:var(--soft);stroke-width:1.5;stroke-dasharray:6 4;fill:none}
.curve{stroke:var(--c0);stroke-width:2.5;fill:none;stroke-linejoin:round}
.band{fill:var(--c0);fill-opacity:.17}
.dot{fill:var(--c0);stroke:var(--page);stroke-width:1.5}
.best{fill:var(--page);stroke:var(--c0);stroke-width:3}
.whisker{stroke:var(--ink);stroke-width:1.5;fill:none}
.box{fill:var(--page);stroke:var(--soft);stroke-width:1}
.edge{stroke:var(--soft);stroke-width:1.25;fill:none}
.cell{fill:var(--strong)}
.frame{fill:none;stroke:var(--line)}
.frame.right{stroke:var(--ink);stroke-width:1.5}
text.on{fill:var(--page)}
.f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}.f4{fill:var(--c4)}.f5{fill:var(--c5)}
.f6{fill:var(--c6)}
.t1{fill:url(#t1)}.t2{fill:url(#t2)}.t3{fill:url(#t3)}.t4{fill:url(#t4)}.t5{fill:url(#t5)}.t6{fill:url(#t6)}
.m{fill:none;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}
.s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}.s4{stroke:var(--c4)}
.s5{stroke:var(--c5)}.s6{stroke:var(--c6)}
.tex{stroke:var(--page);stroke-width:1.3;fill:none}
.textures{position:absolute;width:0;height:0}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;list-style:none;margin:0 0 12px;padding:0}
.legend li{display:flex;align-items:center;gap:7px}
details{margin:4px 0 8px}
summary{cursor:pointer;color:var(--link);width:fit-content;padding:3px 0}
table{border-collapse:collapse;font-size:14px;line-height:1.4;margin:6px 0 12px}
caption{text-align:left;color:var(--soft);padding:0 0 6px}
th,td{padding:5px 12px 5px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);
overflow-wrap:normal;word-break:normal}
th{font-weight:600}
tbody th{font-weight:400;max-width:340px;overflow-wrap:anywhere}
td.n,th.n{text-align:right}
code,pre{font:13.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
pre{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:10px 14px;overflow-x:auto;margin:0 0 14px;
white-space:pre-wrap}
ol.rules{padding-left:34px;margin:6px 0 12px}
ol.rules li{margin:0 0 5px}
footer{border-top:1px solid var(--line);margin:30px 0 0;padding:18px 0 40px;color:var(--soft);font-size:14px}
@media (max-width:520px){h1{font-size:25px}h2{font-size:20px}.wrap{padding:0 14px}.tiles{gap:8px}
.tiles{grid-template-columns:repeat(2,minmax(0,1fr))}.tiles dd{font-size:19px}header{padding-top:22px}}
@media print{body{font-size:11pt}nav,.skip,details:not([open]){display:none}.wrap{max-width:none;padding:0}
.card,figure,.tiles div,tr{break-inside:avoid}h2,h3{break-after:avoid}section{padding-top:18px}
.scroll{overflow:visible}.scroll svg{max-width:100%}svg,.tiles div{print-color-adjust:exact}}
)";

void texture(Markup& out, Literal id, Literal fill, Literal path) {
  out.element("pattern", {{"id", id.text()}, {"width", 6}, {"height", 6}, {"patternUnits", "userSpaceOnUse"}}, [&] {
    out.empty("rect", {{"class", fill.text()}, {"width", 6}, {"height", 6}});
    out.empty("path", {{"class", "tex"}, {"d", path.text()}});
  });
}

}  // namespace

void write_style(Markup& out) {
  out.element("style", [&] { out.raw(kStyle); });
}

void write_textures(Markup& out) {
  out.element("svg",
              {{"xmlns", "http://www.w3.org/2000/svg"},
               {"class", "textures"},
               {"aria-hidden", "true"},
               {"width", 0},
               {"height", 0}},
              [&] {
                out.element("defs", [&] {
                  texture(out, "t1", "f1", "M-1 7L7 -1M-1 1L1 -1M5 7L7 5");
                  texture(out, "t2", "f2", "M3 2.4V3.6M0 0V.6M6 0V.6M0 5.4V6M6 5.4V6");
                  texture(out, "t3", "f3", "M-1 -1L7 7M5 -1L7 1M-1 5L1 7");
                  texture(out, "t4", "f4", "M0 3H6");
                  texture(out, "t5", "f5", "M3 0V6");
                  texture(out, "t6", "f6", "M3 0V6M0 3H6");
                });
              });
}

}  // namespace stope::cli::page
