/** For every page. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #fff; --text: #1b1f24; --soft: #57606a; --line: #d5dae0; --mark: #0b5cad; --on-mark: #fff; --warn: #8a4b00 }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171b; --text: #e6e9ed; --soft: #a7b0ba; --line: #363d45; --mark: #6fb3ff; --on-mark: #10151b; --warn: #f0b35b } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
h1 { font-size: 1.5rem; margin: .5rem 0 } h2 { font-size: 1rem; margin: 0 }
p { margin: .25rem 0 1rem; color: var(--soft) } a { color: var(--mark) }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: 1rem }
figure { margin: 0; padding: .75rem; border: 1px solid var(--line); border-radius: .5rem }
figcaption { display: flex; justify-content: space-between; font-weight: 600 }
svg { display: block; width: 100%; height: auto; overflow: visible }
svg text { fill: var(--soft); font-size: 12px }
.axis { stroke: var(--line) } .typical { stroke: var(--soft); stroke-dasharray: 3 4 }
.course { fill: none; stroke: var(--mark); stroke-width: 2 } .night { fill: var(--mark) } .partial { fill: var(--ground); stroke: var(--mark); stroke-width: 2 }
.band { fill: var(--mark); opacity: .13 } .range { stroke: var(--mark); stroke-width: 3; opacity: .35 } .notable { fill: none; stroke: var(--warn); stroke-width: 2 } .measured { fill: var(--ground); stroke: var(--text); stroke-width: 2 }
.legend { display: flex; flex-wrap: wrap; gap: .15rem 1.25rem; margin: 0 0 1rem; padding: 0; list-style: none; color: var(--soft); font-size: .875rem }
.legend li { display: flex; align-items: center; gap: .4rem } .legend svg { flex: none; width: 1.25rem; height: 1rem }
dl { display: grid; grid-template-columns: auto 1fr; gap: .35rem 1rem; max-width: 60rem; margin: .5rem 0 } dt { font-weight: 600; font-variant-numeric: tabular-nums } dd { margin: 0 } dd span { color: var(--soft) }
@media (max-width: 30rem) { dl { display: block } dd { margin: 0 0 .75rem } }
.unmeasured { fill: none; stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 5 3 }
li { overflow-wrap: anywhere } .scroll { overflow-x: auto; margin-top: 1.5rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap }
td.note { white-space: normal; min-width: 14rem } td.number { text-align: right } th.number { text-align: right } .weak { color: var(--warn) }
.narrow { max-width: 40rem } .page { margin: 0 auto } section { margin-top: 1.5rem } section :is(th, td) { padding-inline: .25rem .5rem } .bar { display: flex; flex-wrap: wrap; gap: .5rem 1rem; margin: 1rem 0 }
fieldset { margin: 0 0 .75rem; padding: .5rem .75rem .75rem; border: 1px solid var(--line); border-radius: .5rem; min-width: 0 }
legend { padding: 0 .25rem; font-weight: 600 }
.answers { display: grid; grid-template-columns: repeat(5, minmax(0, 1fr)); gap: .25rem }
.answers label { display: flex; flex-direction: column; align-items: center; gap: .15rem; padding: .5rem .1rem; border-radius: .35rem; text-align: center; font-size: .8125rem; line-height: 1.2; cursor: pointer }
.answers label:has(:checked) { background: var(--mark); color: var(--on-mark) }
.answers input { width: 1.25rem; height: 1.25rem; margin: 0; accent-color: var(--on-mark) }
.who { display: flex; flex-wrap: wrap; align-items: end; gap: .75rem 1.5rem; margin: 1rem 0 }
.who label { display: grid; gap: .25rem; color: var(--soft); font-size: .875rem }
.who input, .who select { min-height: 2.75rem; padding: .4rem .6rem; border: 1px solid var(--soft); border-radius: .35rem; background: var(--ground); color: var(--text); font: inherit }
.who input { width: 6rem }
.act { display: inline-block; min-height: 2.75rem; padding: .6rem 1.25rem; border: 0; border-radius: .35rem; background: var(--mark); color: var(--on-mark); font: inherit; font-weight: 600; text-decoration: none; cursor: pointer }
@media (max-width: 26rem) { .answers { gap: 0 } .answers label { padding-inline: 0; font-size: .6875rem } section table { font-size: .875rem } }
.plain { border: 1px solid var(--soft); background: none; color: var(--text); font-weight: 400 }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px }
#field { display: grid; place-items: center; width: 100%; min-height: 55vh; border: 3px solid var(--line); border-radius: .75rem; background: var(--ground); color: var(--soft); font: inherit; font-size: 1.25rem; touch-action: manipulation; user-select: none; -webkit-user-select: none; cursor: pointer }
#field[hidden] { display: none } #field[data-state=on] { background: var(--mark); border-color: var(--mark); color: var(--on-mark); font-size: 2rem; font-weight: 700 }
#told { min-height: 1.5em; color: var(--text) }
`;

export function documentOf(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><title>${escaped(title)}</title><style>${STYLE}</style></head><body><main>${body}</main></body></html>\n`;
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
