import type * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"

/** Prometheus' text format, version 0.0.4. */
export const contentType = "text/plain; version=0.0.4; charset=utf-8"

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"')

type Labels = ReadonlyArray<readonly [name: string, value: string]>

const line = (name: string, labels: Labels, value: number | bigint): string => {
  const list = labels.map(([key, text]) => `${key.replaceAll(/[^a-zA-Z0-9_]/g, "_")}="${escaped(text)}"`)
  const number =
    value === Number.POSITIVE_INFINITY ? "+Inf" : value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value)
  return `${name}${list.length === 0 ? "" : `{${list.join(",")}}`} ${number}`
}

interface Family {
  readonly type: string
  readonly help: string
  readonly lines: Array<string>
}

const bound = (value: number): string => (value === Number.POSITIVE_INFINITY ? "+Inf" : String(value))

/** What a state is called there, and its lines. Frequencies and summaries are no metrics of ours. */
const shown = (
  name: string,
  labels: Labels,
  state: MetricState.MetricState.Untyped
): readonly [type: string, suffix: string, lines: ReadonlyArray<string>] | undefined => {
  if (MetricState.isCounterState(state)) return ["counter", "_total", [line(`${name}_total`, labels, state.count)]]
  if (MetricState.isGaugeState(state)) return ["gauge", "", [line(name, labels, state.value)]]
  if (MetricState.isHistogramState(state)) {
    const buckets = state.buckets.map(([le, count]) => line(`${name}_bucket`, [...labels, ["le", bound(le)]], count))
    const all = state.buckets.at(-1)?.[0] === Number.POSITIVE_INFINITY
    const last = all ? [] : [line(`${name}_bucket`, [...labels, ["le", "+Inf"]], state.count)]
    return [
      "histogram",
      "",
      [...buckets, ...last, line(`${name}_sum`, labels, state.sum), line(`${name}_count`, labels, state.count)]
    ]
  }
  return undefined
}

/** The metrics of ours among all there are, family by family. */
export const render = (pairs: ReadonlyArray<MetricPair.MetricPair.Untyped>): string => {
  const families = new Map<string, Family>()
  for (const { metricKey, metricState } of pairs) {
    const { name } = metricKey
    if (!name.startsWith("switchgear_")) continue
    const labels = metricKey.tags.map(({ key, value }) => [key, value] as const)
    const one = shown(name, labels, metricState)
    if (one === undefined) continue
    const [type, suffix, lines] = one
    const help = metricKey.description._tag === "Some" ? metricKey.description.value : ""
    const family = families.get(name + suffix) ?? { type, help, lines: [] }
    family.lines.push(...lines)
    families.set(name + suffix, family)
  }
  const text = Array.from(families, ([name, { help, lines, type }]) =>
    [`# HELP ${name} ${help.replaceAll("\n", " ")}`, `# TYPE ${name} ${type}`, ...lines].join("\n")
  )
  return `${text.sort().join("\n")}\n`
}
