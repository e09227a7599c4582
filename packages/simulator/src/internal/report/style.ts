/** Colours by what they mean. Text has a contrast of at least 4.5 with what it stands on, graphics of at least 3. */
export const light = {
  bg: "#ffffff",
  panel: "#f4f6f8",
  ink: "#1a1e23",
  muted: "#56606b",
  line: "#d4dae1",
  shade: "#eceff3",
  served: "#5c8fb8",
  rescued: "#1d4f80",
  aborted: "#848c95",
  rejected: "#a86f00",
  failed: "#c2341d",
  Closed: "#4f8a67",
  Degraded: "#a86f00",
  HalfOpen: "#6b4fb8",
  Open: "#c2341d",
  "on-Open": "#ffffff",
  calls: "#6f7a86",
  best: "#1f6b42"
} as const

export type Colour = keyof typeof light

export const dark: Readonly<Record<Colour, string>> = {
  bg: "#14181d",
  panel: "#1c2127",
  ink: "#e8ebee",
  muted: "#a3adb8",
  line: "#343c45",
  shade: "#242b33",
  served: "#4c7fa8",
  rescued: "#a8d0f5",
  aborted: "#8b939c",
  rejected: "#e0a83c",
  failed: "#f4694c",
  Closed: "#5fa37c",
  Degraded: "#e0a83c",
  HalfOpen: "#b09af0",
  Open: "#f4694c",
  "on-Open": "#14181d",
  calls: "#8b96a2",
  best: "#7fd0a0"
}

const variables = (colours: Readonly<Record<Colour, string>>): string =>
  Object.entries(colours)
    .map(([name, colour]) => `--${name}:${colour}`)
    .join(";")

/** What is told apart by colour is told apart by a pattern too. */
const fills: Readonly<Record<string, string>> = {
  served: "var(--served)",
  rescued: "url(#rescued)",
  aborted: "url(#aborted)",
  rejected: "url(#rejected)",
  failed: "url(#failed)",
  Closed: "var(--Closed)",
  Degraded: "url(#Degraded)",
  HalfOpen: "url(#HalfOpen)",
  Open: "var(--Open)",
  sick: "url(#sick)",
  odd: "url(#odd)"
}

const fillVariables = Object.entries(fills)
  .map(([name, fill]) => `--fill-${name}:${fill}`)
  .join(";")

const pattern = (id: string, size: number, base: string, marks: string, turn = 0): string =>
  `<pattern id="${id}" width="${size}" height="${size}" patternUnits="userSpaceOnUse"${turn === 0 ? "" : ` patternTransform="rotate(${turn})"`}><rect width="${size}" height="${size}" fill="${base}"/>${marks}</pattern>`

const stripe = (size: number, width: number, colour: string): string =>
  `<rect width="${width}" height="${size}" fill="${colour}"/>`

/** Patterns that all charts of the page share. They must not be in an element that is not displayed. */
export const patterns = `<svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false"><defs>${[
  pattern("rescued", 5, "var(--rescued)", stripe(5, 1, "var(--served)"), 90),
  pattern("aborted", 4, "var(--bg)", stripe(4, 2, "var(--aborted)")),
  pattern("rejected", 5, "var(--rejected)", '<circle cx="2.5" cy="2.5" r="1.1" fill="var(--bg)"/>'),
  pattern("failed", 6, "var(--failed)", stripe(6, 1.2, "var(--bg)"), 45),
  pattern("Degraded", 5, "var(--Degraded)", '<circle cx="2.5" cy="2.5" r="1.1" fill="var(--bg)"/>'),
  pattern("HalfOpen", 5, "var(--bg)", stripe(5, 2.2, "var(--HalfOpen)"), -45),
  pattern("sick", 6, "var(--bg)", stripe(6, 1.6, "var(--muted)"), 45),
  pattern("odd", 6, "var(--bg)", stripe(6, 0.8, "var(--muted)"), 90)
].join("")}</defs></svg>`

/** The figures' table where its columns do not fit beside each other: each row a heading with its cells below it. */
const stacked = (of: string): string =>
  `${of}.figures,${of}.figures caption,${of}.figures tbody{display:block}
${of}.figures thead{display:block;position:absolute;width:1px;height:1px;overflow:hidden;white-space:nowrap;clip-path:inset(50%)}
${of}.figures tr{display:grid;grid-template-columns:repeat(auto-fit,minmax(6.5rem,1fr));gap:0 .75rem;border-top:1px solid var(--line);padding:.5rem 0}
${of}.figures th[scope=row]{grid-column:1/-1;width:auto}
${of}.figures th,${of}.figures td{border:0;padding:.1rem 0;min-width:0}
${of}.figures td::before{content:attr(data-label);display:block;color:var(--muted);font-size:.8125rem}`

export const style = `
:root{color-scheme:light dark;${variables(light)};${fillVariables}}
@media screen and (prefers-color-scheme:dark){:root{${variables(dark)}}}
*{box-sizing:border-box}
html{background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:64rem;padding:1.5rem 1rem 3rem;overflow-wrap:anywhere}
h1,h2,h3,p,ul,figure,dl,dd{margin:0;padding:0}
h1{font-size:1.75rem;line-height:1.2}
h2{font-size:1.25rem;margin-top:2.5rem;line-height:1.3}
h3{font-size:1.0625rem;line-height:1.3}
.about{font-size:1.0625rem;margin-top:.35rem}
.facts,.note{color:var(--muted);font-size:.875rem}
.facts{margin-top:.5rem}
.verdict{background:var(--panel);border-inline-start:4px solid var(--ink);margin-top:1.25rem;padding:.75rem 1rem;list-style:none}
.verdict li+li{margin-top:.25rem}
.verdict li:first-child{font-weight:600}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(15rem,100%),1fr));gap:1rem;list-style:none;margin-top:1rem}
.card{border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;break-inside:avoid}
.big{font-size:2rem;font-weight:650;line-height:1.2;font-variant-numeric:tabular-nums}
.big small{font-size:.875rem;font-weight:400;color:var(--muted);display:block}
.card dl{display:grid;grid-template-columns:1fr auto;gap:0 .75rem;font-size:.875rem;margin-top:.5rem}
.card dt{color:var(--muted)}
.card dd{font-variant-numeric:tabular-nums;text-align:end}
.stack{display:block;width:100%;height:1rem;margin-top:.5rem}
.best{color:var(--best);font-size:.75rem;font-weight:650;white-space:nowrap}
table{border-collapse:collapse;width:100%}
caption{text-align:start;color:var(--muted);font-size:.875rem;padding:.25rem 0 .5rem}
th,td{text-align:start;vertical-align:top;padding:.4rem .6rem .4rem 0;border-top:1px solid var(--line);font-weight:400}
thead th{font-weight:650;border-top:0;vertical-align:bottom}
.figures th[scope=row]{width:34%;min-width:11rem;font-weight:600}
.figures th small{display:block;color:var(--muted);font-size:.8125rem;font-weight:400;line-height:1.35}
.figures td{font-variant-numeric:tabular-nums;min-width:6rem}
.mean{font-weight:600}
.interval{display:block;color:var(--muted);font-size:.8125rem}
.bar{display:block;position:relative;height:.375rem;margin-top:.25rem;background:var(--panel);max-width:11rem;overflow:hidden}
.bar i,.bar b{position:absolute;top:0;bottom:0}
.bar i{inset-inline-start:0;background:var(--served)}
.bar b{top:2px;bottom:2px;background:var(--ink);min-width:2px}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;font-size:.875rem;margin-top:.5rem}
.legend li{display:flex;align-items:center;gap:.4rem}
.legend svg{flex:none;width:22px;height:14px}
.timeline{margin-top:1.5rem;break-inside:avoid}
.timeline svg{display:block;width:100%;height:auto;margin-top:.5rem;font-family:inherit}
.narrow{display:none;max-width:36rem}
.patterns{position:absolute}
.log{margin-top:.75rem;font-size:.875rem}
.log th[scope=row],.log .at{font-variant-numeric:tabular-nums;white-space:nowrap}
.log .why{color:var(--muted);width:45%}
.log .at{width:5rem}
.log tr{break-inside:avoid}
.log .provider th,.log .provider td{background:var(--panel)}
details{margin-top:.75rem}
summary{cursor:pointer;font-weight:600}
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.75rem}
@media screen and (max-width:50rem){.wide{display:none}.narrow{display:block}}
@media screen and (max-width:40rem){
${stacked("")}
.log,.log tbody{display:block}
.log thead{display:block;position:absolute;width:1px;height:1px;overflow:hidden;white-space:nowrap;clip-path:inset(50%)}
.log tr{display:grid;grid-template-columns:4.5rem 1fr;border-top:1px solid var(--line);padding:.35rem 0}
.log th,.log td{border:0;padding:0 .35rem}
.log td.what,.log td.why{grid-column:2;width:auto}
.log td:empty{display:none}
}
${stacked(".many ")}
@media print{
html{font-size:11px}
body{max-width:none;padding:0}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
h2,h3{break-after:avoid}
.verdict,tr{break-inside:avoid}
}
`
