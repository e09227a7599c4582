declare const Decoded: unique symbol

/** Checked settings of a walk; only the decoder and the presets make them. */
export interface Settings {
  readonly [Decoded]: true
  /** Kinds, statuses (`"503"`) and classes (`"5xx"`) that move on (ROUTING F4). */
  readonly on: ReadonlyArray<string>
  /** The same, of what never moves on; stronger than `on`. */
  readonly never: ReadonlyArray<string>
  /** Hops at most (F3); at least 1. */
  readonly maxDepth: number
  /** `"attempts"`: only hops really called use depth. `"listed"`: the first `maxDepth` entries are all there is. */
  readonly depthCounts: "attempts" | "listed"
  /** What a failed walk answers (F6). */
  readonly surface: "primary" | "last" | "exhausted"
  /** Sort the chain by health score (H2). */
  readonly reorderByHealth: boolean
  /** Sort the chain by the breakers' states (H4). */
  readonly preferHealthyState: boolean
  /** Whether the target that may be tried soonest is called when all refuse (F10). */
  readonly lastResort: "none" | "soonest"
  /** Hops at most, as a share of first attempts; 1 is off (F13). */
  readonly budget: number
}

export interface SettingsInput {
  readonly preset?: "recommended" | "ibex" | "nrLlm" | undefined
  readonly on?: ReadonlyArray<string | number> | undefined
  readonly never?: ReadonlyArray<string | number> | undefined
  readonly maxDepth?: number | undefined
  readonly depthCounts?: Settings["depthCounts"] | undefined
  readonly surface?: Settings["surface"] | undefined
  readonly reorderByHealth?: boolean | undefined
  readonly preferHealthyState?: boolean | undefined
  readonly lastResort?: Settings["lastResort"] | undefined
  readonly budget?: number | undefined
}

/** One place a call may go, by a name that is unique in its plan. */
export interface Target {
  readonly name: string
  /** Tokens. A target without one never counts as larger than another (ROUTING F4). */
  readonly contextWindow?: number | undefined
  /** Health in [0, 1]; without one 0.5 (H1). */
  readonly score?: number | undefined
  /** What its breaker reads; without one `Closed`. */
  readonly state?: "Closed" | "Degraded" | "HalfOpen" | "Open" | undefined
}

export interface Plan {
  readonly primary: Target
  /** In the order of preference. */
  readonly chain: ReadonlyArray<Target>
  readonly settings: Settings
  /** The caller brought a key or base URL of their own: no fallback (F8). */
  readonly byo?: boolean | undefined
}

/** What a call that was really made failed with. A `Failure` of `@switchgear/failures` is one. */
export interface Failure {
  readonly kind: string
  readonly status?: number | undefined
  /** ms */
  readonly retryAfter?: number | undefined
}

/** The target was called and its answer accepted; for a stream: its first output. */
export interface Served {
  readonly _tag: "Served"
}

/** The target was called and failed. */
export interface Failed {
  readonly _tag: "Failed"
  readonly failure: Failure
  /** Whether the client had been sent output of it (ROUTING F7). */
  readonly outputSent: boolean
}

/** We refused to call the target for now (F10, F14). */
export interface Refused {
  readonly _tag: "Refused"
  readonly kind: "circuit_open" | "saturated"
  /** ms until it may be tried; absent for an open circuit that only a command closes. */
  readonly retryAfter?: number | undefined
  /** The kind of failure that opened the circuit. */
  readonly openedBy?: string | undefined
}

/** The policy does not allow the target. */
export interface Denied {
  readonly _tag: "Denied"
}

/** There is no such target. */
export interface Unknown {
  readonly _tag: "Unknown"
}

/** Whether the policy allows the target cannot be said (F5). */
export interface PolicyError {
  readonly _tag: "PolicyError"
}

/** The target cannot carry this request (W6, F4). */
export interface Ineligible {
  readonly _tag: "Ineligible"
  readonly reason: string
}

/** The hop would exceed the fallback budget (F13). */
export interface OverBudget {
  readonly _tag: "OverBudget"
}

/** The caller went away. */
export interface Cancelled {
  readonly _tag: "Cancelled"
}

/** What happened to the target that was due. */
export type Event = Served | Failed | Refused | Denied | Unknown | PolicyError | Ineligible | OverBudget | Cancelled

/** What happened to one target of a walk. */
export interface Attempt {
  readonly target: Target
  /** Not the primary. */
  readonly hop: boolean
  /** Offered because every target had refused (F10). */
  readonly lastResort: boolean
  readonly event: Event
}

/** What a walk ends with. An `index` points into its attempts. */
export type Answer =
  | { readonly _tag: "Served"; readonly target: Target; readonly substituted: boolean }
  /** Answer with the error this attempt had. */
  | { readonly _tag: "Failed"; readonly index: number; readonly error: Failed | Refused }
  /** Answer with all the errors there were, in order; there are two at least. */
  | { readonly _tag: "Exhausted"; readonly indices: ReadonlyArray<number> }
  /** Every target refused for now (F10); `retryAfter` in ms, absent when none may be tried before a command. */
  | { readonly _tag: "Refused"; readonly status: 503 | 429; readonly retryAfter?: number }
  /** The answer broke off after output was sent (F7). */
  | { readonly _tag: "Broken"; readonly index: number; readonly failure: Failure }
  /** 403 `model_not_allowed` (F5). */
  | { readonly _tag: "NotAllowed" }
  /** 503 `policy_unavailable` (F5). */
  | { readonly _tag: "PolicyUnavailable" }
  /** The requested model does not exist. */
  | { readonly _tag: "UnknownModel" }
  /** The requested model cannot carry this request. */
  | { readonly _tag: "Ineligible"; readonly reason: string }
  /** Nothing is to be written (F9). */
  | { readonly _tag: "Cancelled" }

/** This target is due; tell the walk what happened to it. */
export interface Next {
  readonly _tag: "Next"
  readonly target: Target
  readonly hop: boolean
  /** Call it outside its breaker's count (F10). */
  readonly lastResort: boolean
  /** What is left of the chain. */
  readonly rest: ReadonlyArray<Target>
  readonly settings: Settings
  readonly attempts: ReadonlyArray<Attempt>
}

/** The walk is over. */
export interface Done {
  readonly _tag: "Done"
  readonly answer: Answer
  readonly attempts: ReadonlyArray<Attempt>
}

export type Step = Next | Done
