import * as Usage from "@switchgear/routing/Usage"
import type { FigureName } from "../Figure.js"
import type { Band, ProviderTimeline, Timeline, Transition } from "../RunReport.js"
import type { Scenario } from "../Scenario.js"
import { Histogram } from "./histogram.js"
import type { Witness } from "./provider.js"
import { falseTrips, meanOf, timeToOpen, timeToRecover } from "./recovery.js"
import { phaseBands, sicknesses } from "./sickness.js"

/** How one try of a client ended. */
export type Ending = "served" | "rescued" | "failed" | "rejected" | "aborted"

/** What is known of a call that is on its way. */
export interface Asked {
  /** The model that was asked for, by the name its provider knows. */
  readonly upstream: string
  readonly provider: string
  readonly tokens: { readonly input: number; readonly output: number }
}

/** A step of 1, 2 or 5 times a power of ten that makes at most so many bins. */
const widthOf = (duration: number, bins: number): number => {
  for (let power = 1; ; power *= 10) {
    for (const step of [1, 2, 5]) if (duration / (step * power) <= bins) return step * power
  }
}

/** What a run has counted. */
export class Tally implements Witness {
  readonly transitions: Array<Transition> = []
  private readonly binMs: number
  private readonly bins: number
  private readonly arrivals: Array<number>
  private readonly endings: Readonly<Record<Ending, Array<number>>>
  private readonly reached: ReadonlyArray<Array<number>>
  private readonly addedLatency = new Histogram()
  /** Calls a second of what is no first choice. */
  private readonly hops = new Map<number, number>()
  private readonly prices: Usage.Prices
  private answeredInTime = 0
  private unanswered = 0
  private sickCalls = 0
  private sickAnswers = 0
  private probes = 0
  private cost = 0

  constructor(
    private readonly scenario: Scenario,
    private readonly asked: (call: number) => Asked | undefined,
    private readonly owner: ReadonlyMap<string, string>
  ) {
    this.binMs = widthOf(scenario.duration, 120)
    this.bins = Math.ceil(scenario.duration / this.binMs)
    const empty = () => Array.from({ length: this.bins }, () => 0)
    this.arrivals = empty()
    this.endings = { served: empty(), rescued: empty(), failed: empty(), rejected: empty(), aborted: empty() }
    this.reached = scenario.providers.map(empty)
    this.prices = {
      ...Usage.prices,
      ...Object.fromEntries(
        scenario.models.flatMap(({ name, price, upstream = name }) => (price === undefined ? [] : [[upstream, price]]))
      )
    }
  }

  private count(bins: Array<number>, at: number): void {
    const bin = Math.floor(at / this.binMs)
    if (bin < this.bins) bins[bin] = (bins[bin] ?? 0) + 1
  }

  called(provider: number, call: number, model: string, at: number, sick: boolean, probe: boolean): void {
    const bins = this.reached[provider]
    if (bins !== undefined) this.count(bins, at)
    if (sick) this.sickCalls++
    if (probe) this.probes++
    const asked = this.asked(call)
    if (asked === undefined) return
    if (asked.upstream !== model || asked.provider !== this.scenario.providers[provider]?.name) {
      const second = Math.floor(at / 1_000)
      this.hops.set(second, (this.hops.get(second) ?? 0) + 1)
    }
  }

  answered(_provider: number, call: number, model: string, sick: boolean): void {
    if (sick) this.sickAnswers++
    const asked = this.asked(call)
    if (asked !== undefined) this.cost += Usage.costOf(this.prices, model, asked.tokens) ?? 0
  }

  begun(at: number): void {
    this.count(this.arrivals, at)
  }

  ended(begunAt: number, ending: Ending): void {
    this.count(this.endings[ending], begunAt)
  }

  /** What a client wanted was answered in the end, so much later than a healthy provider would have. */
  satisfied(addedLatency: number): void {
    this.answeredInTime++
    this.addedLatency.add(Math.max(0, addedLatency))
  }

  disappointed(): void {
    this.unanswered++
  }

  private of(provider: string): ReadonlyArray<Transition> {
    return this.transitions.filter((transition) => transition.provider === provider)
  }

  figures(guarded: boolean): Readonly<Record<FigureName, number | undefined>> {
    const { duration, providers } = this.scenario
    const sum = (bins: ReadonlyArray<number>) => bins.reduce((total, value) => total + value, 0)
    const opened: Array<number> = []
    const recovered: Array<number> = []
    let wrong = 0
    for (const provider of providers) {
      const spells = sicknesses(provider, duration)
      const transitions = this.of(provider.name)
      opened.push(...timeToOpen(transitions, spells))
      recovered.push(...timeToRecover(transitions, spells, duration))
      wrong += falseTrips(transitions, spells)
    }
    const wanted = this.answeredInTime + this.unanswered
    return {
      availability: wanted === 0 ? undefined : this.answeredInTime / wanted,
      failed: this.unanswered,
      rescued: sum(this.endings.rescued),
      rejected: sum(this.endings.rejected),
      wasted: this.sickCalls - this.sickAnswers,
      timeToOpen: meanOf(opened),
      timeToRecover: meanOf(recovered),
      falseTrips: guarded ? wrong : undefined,
      probes: guarded ? this.probes : undefined,
      addedLatencyP50: this.addedLatency.quantile(0.5),
      addedLatencyP95: this.addedLatency.quantile(0.95),
      addedLatencyP99: this.addedLatency.quantile(0.99),
      cost: this.cost,
      fallbackLoad: Math.max(0, ...this.hops.values())
    }
  }

  timeline(replicas: number, breakers: ReadonlyArray<string>): Timeline {
    return {
      binMs: this.binMs,
      arrivals: this.arrivals,
      ...this.endings,
      providers: this.scenario.providers.map(
        (provider, index): ProviderTimeline => ({
          name: provider.name,
          phases: phaseBands(provider, this.scenario.duration),
          bands: this.bands(
            breakers.filter((breaker) => this.owner.get(breaker) === provider.name),
            replicas
          ),
          calls: this.reached[index] ?? []
        })
      )
    }
  }

  private bands(breakers: ReadonlyArray<string>, replicas: number): ReadonlyArray<Band> {
    const end = this.scenario.duration
    const bands: Array<Band> = []
    for (const breaker of breakers) {
      for (let replica = 0; replica < replicas; replica++) {
        let band: Band = { breaker, replica, from: 0, to: end, state: "Closed", reason: null }
        for (const transition of this.transitions) {
          if (transition.breaker !== breaker || transition.replica !== replica) continue
          bands.push({ ...band, to: transition.at })
          band = {
            breaker,
            replica,
            from: transition.at,
            to: end,
            state: readAs(transition.to),
            reason: transition.reason
          }
        }
        bands.push(band)
      }
    }
    return bands
  }
}

const readAs = (state: Transition["to"]): Band["state"] =>
  state === "ForcedOpen" ? "Open" : state === "ForcedClosed" ? "Closed" : state
