import * as Policy from "@switchgear/core/Policy"
import * as Trace from "@switchgear/core/Trace"
import { drive } from "./drive.js"
import type { Fit, InvalidPolicyTrace, Loss, Peer, StepsTrace } from "./peer.js"
import { machine } from "./reference.js"

/** How one trace went. */
export type Verdict =
  | { readonly _tag: "Passed"; readonly id: string }
  | { readonly _tag: "Failed"; readonly id: string; readonly mismatch: Trace.Mismatch }
  | { readonly _tag: "Dialect"; readonly id: string; readonly mismatch: Trace.Mismatch; readonly dialect: string }
  | { readonly _tag: "NotApplicable"; readonly id: string; readonly why: ReadonlyArray<string> }

const invalid = (trace: InvalidPolicyTrace, peer: Peer): Verdict => {
  const { id } = trace
  const refused = trace.invalidPolicy.map((path) => peer.refuses(trace.policy, path))
  if (refused.every((answer) => answer === undefined)) {
    return { _tag: "NotApplicable", id, why: ["a policy with such a field"] }
  }
  return refused.some((answer) => answer === false)
    ? {
        _tag: "Failed",
        id,
        mismatch: { id, field: "invalidPolicy", expected: trace.invalidPolicy, actual: "accepted" }
      }
    : { _tag: "Passed", id }
}

/** What our machine shows under a policy with less in it, in the values that the peer could tell. */
const holds = (trace: StepsTrace, policy: unknown, peer: Peer): boolean => {
  const replay = Trace.run(machine, { ...trace, policy })
  const states = new Map(replay.observed.flatMap((seen) => ("step" in seen ? [[seen.step, seen.state] as const] : [])))
  return replay.mismatches.every(({ field, step }) => {
    const state = step === undefined ? undefined : states.get(step)
    return field === "applied" || (state !== undefined && !peer.tells(field, state))
  })
}

/**
 * A trace is put to a peer if our machine passes it too when its policy is cut down to what the peer can express; else it
 * asks for something the peer does not have. So a mere difference of options keeps no trace from anyone.
 */
const missing = (trace: StepsTrace, policy: Policy.Policy, fit: Fit, peer: Peer): ReadonlyArray<string> => {
  const cut = (losses: ReadonlyArray<Loss>): unknown => {
    let left: Policy.Policy = policy
    for (const loss of losses) {
      const decoded = Policy.decode(loss.without(left))
      if (decoded._tag === "Failure") throw new Error(`${peer.name}, ${trace.id}: ${JSON.stringify(decoded.faults)}`)
      left = decoded.policy
    }
    return left
  }
  if (holds(trace, cut(fit.losses), peer)) return []
  const alone = fit.losses.filter((loss) => !holds(trace, cut([loss]), peer))
  if (alone.length > 0) return alone.map(({ what }) => what)
  // none by itself: those that are left when no more can be given back
  let needed = fit.losses
  for (const loss of fit.losses) {
    const fewer = needed.filter((other) => other !== loss)
    if (!holds(trace, cut(fewer), peer)) needed = fewer
  }
  return needed.map(({ what }) => what)
}

/** Puts one trace to a peer. */
export const judge = async (trace: Trace.Trace, peer: Peer): Promise<Verdict> => {
  if ("invalidPolicy" in trace) return invalid(trace, peer)
  const { id } = trace
  const decoded = Policy.decode(trace.policy)
  if (decoded._tag === "Failure") throw new Error(`${id}: its policy is none`)
  const lacking = new Set(
    trace.steps.flatMap((step, index) => peer.lacks(step, trace.steps[index - 1]?.at ?? step.at) ?? [])
  )
  if (lacking.size > 0) return { _tag: "NotApplicable", id, why: [...lacking] }
  const fit = peer.fit(decoded.policy)
  if (typeof fit === "string") return { _tag: "NotApplicable", id, why: [fit] }
  const why = missing(trace, decoded.policy, fit, peer)
  if (why.length > 0) return { _tag: "NotApplicable", id, why }
  const [mismatch] = await drive(trace, fit)
  if (mismatch === undefined) return { _tag: "Passed", id }
  const dialect = peer.dialects[id]
  return dialect === undefined ? { _tag: "Failed", id, mismatch } : { _tag: "Dialect", id, mismatch, dialect }
}
