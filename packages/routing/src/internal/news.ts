import * as Dedupe from "@switchgear/core/Dedupe"
import type { Policy } from "@switchgear/core/Policy"
import type { Failure, Kind } from "@switchgear/failures/Failure"
import type { Target } from "../Call.js"
import * as Gate from "./gate.js"

/** SEMANTICS P4: the failures that are none unless a policy says so. */
const ignored: ReadonlyArray<Kind> = ["auth", "model_unavailable", "context_length", "content_filter", "client_fault"]

/** Whether a policy counts it as a failure (SEMANTICS P4): status before class before kind. */
const takes = ({ outcomes }: Policy, { kind, status }: Failure): boolean => {
  const keys = status === undefined ? [kind] : [String(status), `${Math.floor(status / 100)}xx`, kind]
  const named = keys.find((key) => Object.hasOwn(outcomes, key))
  return named === undefined ? !ignored.includes(kind) : outcomes[named] === "failure"
}

/** What is news, and what was heard already (STORES, "Recording an outcome"). */
export class News {
  private readonly table: Dedupe.Table

  constructor(settings: Dedupe.Settings) {
    this.table = new Dedupe.Table(settings)
  }

  success({ probe, provider }: Target, now: number): boolean {
    return this.table.report({ provider, connection: provider, kind: null, probe }, now) === "Counted"
  }

  failure({ probe, provider }: Target, failure: Failure, held: ReadonlyArray<Gate.Held>, now: number): boolean {
    // a window begins with a failure that counts somewhere, not with a client's mistake
    const counts = held.some((one) => Gate.covers(one.level, failure.scope) && takes(one.breaker.policy, failure))
    if (!counts) return true
    return this.table.report({ provider, connection: provider, kind: failure.kind, probe }, now) === "Counted"
  }
}
