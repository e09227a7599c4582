import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Snapshot from "@switchgear/core/Snapshot"
import * as Trace from "@switchgear/core/Trace"

/** Our machine, by which it is judged whether a trace needs what a peer has not. */
export const machine = Trace.machine({ breaker: Breaker, policy: Policy, snapshot: Snapshot })
