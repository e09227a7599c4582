import { type Invariant, isShut, type Moment, type Run, shown } from "./run.js"

/** SEMANTICS A2, A3, T3, M1. */
export const noAdmissionBeforeTheDeadline: Invariant = {
  name: "no admission before the deadline, and one at it",
  rule: "A2 A3 T3 M1",
  check: (_run, { before, now, taken }) => {
    const { admission } = taken
    if (admission === undefined || (before._tag !== "Open" && before._tag !== "ForcedOpen")) return null
    if (!isShut(before, now)) return admission._tag === "Admitted" ? null : "refused at or after the deadline"
    if (admission._tag === "Admitted") return `admitted at ${now} before ${shown(before.until)}`
    const expected = before.until === null ? undefined : Math.min(Number.MAX_SAFE_INTEGER, before.until - now)
    return admission.retryAfter === expected ? null : `retryAfter ${admission.retryAfter}, not ${expected}`
  }
}

/** The leases out after the last moment, from nothing but the permits given and the reports applied (SEMANTICS A5). */
const leasesOut = ({ moments, policy }: Run, last: Moment): ReadonlyArray<number> => {
  const now = last.taken.now
  const used = new Set(
    moments.flatMap(({ taken }) => (taken.reported === "Applied" && taken.permit !== undefined ? [taken.permit] : []))
  )
  return moments.flatMap(({ step, taken: { permit } }) => {
    if (step.do !== "acquire" || permit?.probe === undefined || permit.era !== last.after.era || used.has(permit))
      return []
    const until = Math.min(Number.MAX_SAFE_INTEGER, permit.at + policy.halfOpen.probeTimeout)
    return Math.max(now, last.after.at) < until ? [until] : []
  })
}

/** SEMANTICS A4, A5, R2, R5: counted from the permits, whatever the state says. */
export const neverMoreProbesThanAllowed: Invariant = {
  name: "never more than maxProbes leases out, and none refused below that",
  rule: "A4 A5 R2 R5",
  check: (run, last) => {
    if (last.after._tag !== "HalfOpen") return null
    const out = leasesOut(run, last)
    const { maxProbes } = run.policy.halfOpen
    if (out.length > maxProbes) return `${out.length} leases are out, ${maxProbes} are allowed`
    if (last.taken.view.leases !== out.length)
      return `the view tells of ${last.taken.view.leases} leases, ${out.length} are out`
    const { admission } = last.taken
    if (admission?._tag !== "Rejected") return null
    if (out.length < maxProbes) return `refused with ${out.length} of ${maxProbes} leases out`
    const wait = Math.min(...out) - last.now
    return admission.retryAfter === wait ? null : `retryAfter ${admission.retryAfter}, not ${wait}`
  }
}

/** SEMANTICS A1, M1. */
export const closedAdmitsEverything: Invariant = {
  name: "Closed, Degraded and forced Closed admit every call",
  rule: "A1 M1 D4",
  check: (_run, { before, taken }) =>
    taken.admission?._tag === "Rejected" && ["Closed", "Degraded", "ForcedClosed"].includes(before._tag)
      ? `${before._tag} refused a call`
      : null
}

/** SEMANTICS S4: what the view tells is what a caller at that time gets. */
export const theViewTellsWhatACallerGets: Invariant = {
  name: "retryAfter in the view is what a caller then gets",
  rule: "S4",
  judges: "state and time",
  check: ({ machine, policy }, { after, taken }) => {
    const [admission] = machine.acquire(policy, after, taken.now)
    const wait = admission._tag === "Admitted" ? 0 : admission.retryAfter
    return wait === taken.view.retryAfter ? null : `the view says ${taken.view.retryAfter}, a caller gets ${wait}`
  }
}

/** SEMANTICS R7. */
export const aTailIsAPlainPermit: Invariant = {
  name: "a tail is a plain permit of the era, in Closed and Degraded only",
  rule: "R7 T2",
  check: (_run, { after, before, now, step, taken }) => {
    if (step.do !== "tail") return null
    if (after !== before) return "taking it changed the state"
    const { permit } = taken
    const due = before._tag === "Closed" || before._tag === "Degraded"
    if ((permit !== undefined) !== due) return `${before._tag} ${due ? "gave none" : "gave one"}`
    if (permit === undefined) return null
    return permit.era === before.era && permit.at === now && permit.probe === undefined ? null : shown(permit)
  }
}
