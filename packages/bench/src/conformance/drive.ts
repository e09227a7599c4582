import type * as Trace from "@switchgear/core/Trace"
import { FakeTime, flush } from "../peers/fakeTime.js"
import { CallFailed, CallIgnored, CallReleased, type Fit, type Seen } from "./peer.js"

interface Held {
  readonly settle: (step: Trace.Step) => void
}

/** What a step showed, in the words of `Trace.Observation`; absent keys the breaker could not tell. */
type Observed = Seen & { readonly permit?: boolean }

const fields = ["permit", "state", "retryAfter", "until"] as const

const compare = (id: string, index: number, step: Trace.Step, seen: Observed): ReadonlyArray<Trace.Mismatch> =>
  fields.flatMap((field) => {
    const expected = step.expect?.[field]
    const actual = seen[field]
    return expected === undefined || actual === undefined || Object.is(expected, actual) || expected === actual
      ? []
      : [{ id, step: index, at: step.at, do: step.do, field, expected, actual }]
  })

/**
 * Plays a trace on a live breaker. A call of the trace is a guarded function that stays open until its report: `acquire`
 * starts it, and whether the function was entered is whether there was a permit; a report settles it. A caller who is
 * made to wait was not let through, and leaves.
 */
export const drive = async (trace: Trace.Trace, fit: Fit): Promise<ReadonlyArray<Trace.Mismatch>> => {
  if ("invalidPolicy" in trace) return []
  const time = new FakeTime(trace.steps[0]?.at ?? 0)
  const live = fit.start(time)
  const mismatches: Array<Trace.Mismatch> = []
  const calls = new Map<string, Held>()
  const leaving: Array<AbortController> = []
  try {
    await flush()
    let last = trace.steps[0]?.at ?? 0
    for (const [index, step] of trace.steps.entries()) {
      if (step.at !== last) {
        time.set(step.at)
        await flush()
      }
      last = step.at
      let permit: boolean | undefined
      if (step.do === "acquire") {
        const caller = new AbortController()
        leaving.push(caller)
        let ended = false
        let settle: Held["settle"] | undefined
        const body = () =>
          new Promise<{ readonly latency?: number }>((resolve, reject) => {
            if (ended) return
            settle = (report) => {
              if (report.do === "success") resolve(report.latency === undefined ? {} : { latency: report.latency })
              else if (report.do === "failure") {
                reject(new CallFailed(report.kind ?? "unknown", report.status, report.retryAfter, report.latency))
              } else if (report.do === "ignored") reject(new CallIgnored())
              else {
                caller.abort(new CallReleased())
                reject(new CallReleased())
              }
            }
          })
        live.call(body, caller.signal).then(
          () => {},
          () => {}
        )
        await flush()
        ended = true
        permit = settle !== undefined
        if (settle === undefined) caller.abort(new CallReleased())
        else calls.set(step.call, { settle })
      } else if ("call" in step) {
        calls.get(step.call)?.settle(step)
        await flush()
      } else if (step.do !== "observe") {
        live.act(step)
        await flush()
      }
      const seen = await live.seen()
      mismatches.push(...compare(trace.id, index, step, permit === undefined ? seen : { ...seen, permit }))
    }
  } finally {
    live.close()
    for (const caller of leaving) caller.abort(new CallReleased())
    time.uninstall()
  }
  return mismatches
}
