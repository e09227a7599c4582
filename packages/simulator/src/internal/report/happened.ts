import type { RunReport, Transition } from "../../RunReport.js"
import { describeReason } from "../describe.js"

/** Something that happened to a provider, or to a breaker in front of it. */
export interface Happening {
  /** ms since the run began. */
  readonly at: number
  readonly provider: string
  readonly who: "provider" | "breaker"
  readonly what: string
  readonly why: string
}

const verbs: Readonly<Record<Transition["to"], string>> = {
  Closed: "closes",
  Degraded: "is degraded",
  Open: "opens",
  HalfOpen: "lets probes through",
  ForcedOpen: "is forced open",
  ForcedClosed: "is forced closed"
}

/** What happened in the first run, in order. */
export const happenings = ({ timeline, transitions }: RunReport): ReadonlyArray<Happening> => {
  const replicas = new Set(timeline.providers.flatMap(({ bands }) => bands.map(({ replica }) => replica))).size
  const phases = timeline.providers.flatMap(({ name, phases }) =>
    phases
      .filter(({ from, phase }) => from > 0 || phase !== "healthy")
      .map(({ from, phase }): Happening => {
        const what = phase === "healthy" ? "is healthy again" : `${phase} begins`
        return { at: from, provider: name, who: "provider", what, why: "" }
      })
  )
  const changes = transitions.map(({ at, breaker, provider, reason, replica, to }): Happening => {
    const name = breaker === provider ? "breaker" : `breaker ${breaker}`
    const of = replicas > 1 ? `${name} of replica ${replica + 1}` : name
    return { at, provider, who: "breaker", what: `${of} ${verbs[to]}`, why: describeReason(reason) }
  })
  return [...phases, ...changes].sort((a, b) => a.at - b.at)
}
