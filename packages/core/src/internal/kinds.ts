import type { KindCount } from "./model.js"
import type { Policy, Taken } from "./policyModel.js"

/** How many kinds of an era are named (SEMANTICS S4). */
export const namedKinds = 16

export const noKinds: ReadonlyArray<KindCount> = []

/** Records are read by their own keys: a kind may be called `constructor`. */
export const lookup = <A>(record: Readonly<Record<string, A>>, key: string): A | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

export const countOf = (counts: ReadonlyArray<KindCount>, kind: string): number => {
  for (const entry of counts) {
    if (entry.kind === kind) return entry.count
  }
  return 0
}

/** `counts` with `by` more of `kind`. */
export const addKind = (counts: ReadonlyArray<KindCount>, kind: string, by: number): ReadonlyArray<KindCount> => {
  const next: Array<KindCount> = []
  let found = false
  for (const entry of counts) {
    if (entry.kind === kind) {
      found = true
      next.push({ kind, count: entry.count + by })
    } else {
      next.push(entry)
    }
  }
  if (!found) next.push({ kind, count: by })
  return next
}

/** SEMANTICS P4: the failures that are none unless a policy says so. */
export const ignoredByDefault: ReadonlyArray<string> = [
  "auth",
  "model_unavailable",
  "context_length",
  "content_filter",
  "client_fault"
]

/** SEMANTICS P4 by kind alone: the kind's own key, else its default. */
export const takenByKind = (outcomes: Readonly<Record<string, Taken>>, kind: string): Taken =>
  lookup(outcomes, kind) ?? (ignoredByDefault.includes(kind) ? "ignored" : "failure")

/** SEMANTICS P4: the most specific key wins, status before class before kind. */
export const taken = (policy: Policy, kind: string, status: number | undefined): Taken => {
  if (status !== undefined) {
    const byStatus = lookup(policy.outcomes, String(status)) ?? lookup(policy.outcomes, `${Math.floor(status / 100)}xx`)
    if (byStatus !== undefined) return byStatus
  }
  return takenByKind(policy.outcomes, kind)
}
