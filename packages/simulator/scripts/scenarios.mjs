// Writes docs/scenarios.md: every named scenario under every preset and under no breaker at all.
// Another number of runs as argument (default 3); names of scenarios after it print those instead of writing the page.
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Policy from "@switchgear/core/Policy"
import * as Figure from "@switchgear/simulator/Figure"
import * as Scenarios from "@switchgear/simulator/Scenarios"
import * as Simulator from "@switchgear/simulator/Simulator"
import * as Effect from "effect/Effect"

const page = fileURLToPath(new URL("../../../docs/scenarios.md", import.meta.url))
const runs = Number(process.argv[2] ?? 3)
const wanted = process.argv.slice(3)
const names = wanted.length === 0 ? Scenarios.names : Scenarios.names.filter((name) => wanted.includes(name))
const policies = [Simulator.none, ...Object.entries(Policy.presets).map(([name, policy]) => ({ name, policy }))]

const seconds = (ms) =>
  ms < 1000 ? `${Math.round(ms)} ms` : ms < 100_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`
const whole = (value) =>
  value > 0 && value < 10 && !Number.isInteger(value) ? value.toFixed(1) : String(Math.round(value))
const units = {
  share: (value) => `${(value * 100).toFixed(2)} %`,
  calls: whole,
  trips: whole,
  ms: seconds,
  usd: (value) => `$${value.toFixed(2)}`,
  perSecond: (value) => `${whole(value)}/s`
}
/** A mean, and half the width of its interval where runs differ; an interval reaches no further than a figure can. */
const cell = (figure, unit) => {
  if (figure === null) return "–"
  const half = (figure.high - figure.low) / 2
  const show = units[unit]
  return show(half) === show(0) ? show(figure.mean) : `${show(figure.mean)} ± ${show(half)}`
}

const row = (cells) => `| ${cells.join(" | ")} |`
const tableOf = (reports) =>
  [
    row(["", ...Figure.all.map(({ label }) => label)]),
    row(["---", ...Figure.all.map(() => "---:")]),
    ...reports.map(({ figures, policy }) =>
      row([
        policy === "none" ? "no breaker" : `\`${policy}\``,
        ...Figure.all.map(({ name, unit }) => cell(figures[name], unit))
      ])
    )
  ].join("\n")

const section = async (name) => {
  const scenario = await Effect.runPromise(Scenarios.get(name))
  const reports = []
  for (const policy of policies) {
    process.stderr.write(`${name}: ${policy.name}\n`)
    reports.push(await Effect.runPromise(Simulator.run(scenario, { policy, runs })))
  }
  return `## ${name}

${scenario.description}

*Taken from:* ${scenario.incident.trim()}

*Learn:* ${scenario.lesson.trim()}

${tableOf(reports)}
`
}

const intro = `# The scenarios

<!-- Written by \`npm run scenarios\`: change the scenarios or the script, not this page. -->

What the presets are worth in ${names.length} outages, and what no breaker at all is. Each line is ${runs} runs with seeds 1 to ${runs}; a
figure is their mean and, where they differ, half the width of its 95 % interval. All lines of a table met the same calls, and
each call the same fate with each provider.

Run one yourself, read its file, change it, compare your own policy:

\`\`\`sh
npx switchgear simulate
npx switchgear simulate brown-out --policy hosted --policy none --runs 3
\`\`\`

[docs/simulator.md](simulator.md) goes from there to a running gateway.

| figure | what it is |
| --- | --- |
${Figure.all.map(({ label, meaning }) => row([label, meaning])).join("\n")}

`

const sections = []
for (const name of names) sections.push(await section(name))
if (wanted.length > 0) process.stdout.write(sections.join("\n"))
else writeFileSync(page, `${intro}${sections.join("\n")}`)
