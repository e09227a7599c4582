import type * as Policy from "@switchgear/core/Policy"
import type * as Trace from "@switchgear/core/Trace"
import type { FakeTime } from "../peers/fakeTime.js"

export type StepsTrace = Extract<Trace.Trace, { readonly steps: unknown }>

export type InvalidPolicyTrace = Extract<Trace.Trace, { readonly invalidPolicy: unknown }>

/** What a breaker tells about itself. A key that is absent it cannot tell, and nothing is asked of it. */
export type Seen = {
  readonly [K in keyof Trace.Observed]?: Trace.Observed[K] | null
}

/** What the guarded function ends with when the call of a trace is reported. */
export class CallFailed extends Error {
  override readonly name = "CallFailed"
  constructor(
    readonly kind: string,
    readonly status: number | undefined,
    readonly retryAfter: number | undefined,
    readonly latency: number | undefined
  ) {
    super(kind)
  }
}

/** An answer that says nothing about health. */
export class CallIgnored extends Error {
  override readonly name = "CallIgnored"
}

/** What `fetch` and its like reject with when their caller leaves. */
export class CallReleased extends Error {
  override readonly name = "AbortError"
}

/** A breaker in the middle of a trace. */
export interface Live {
  /**
   * Makes one guarded call. The breaker runs `body` if it lets the call through. `signal` aborts when the caller leaves.
   */
  readonly call: (body: () => Promise<{ readonly latency?: number }>, signal: AbortSignal) => Promise<unknown>
  readonly seen: () => Seen | Promise<Seen>
  /** A command or a restart. Only those that the peer's `refuses` lets pass are asked for. */
  readonly act: (step: Trace.Step) => void
  readonly close: () => void
}

/** A part of a policy that the peer has no word for. */
export interface Loss {
  readonly what: string
  /** The policy without it, or with what the peer does in its place. */
  readonly without: (policy: Policy.Policy) => unknown
}

/** How a policy is put to a peer. */
export interface Fit {
  readonly losses: ReadonlyArray<Loss>
  readonly start: (time: FakeTime) => Live
}

/** A breaker library, and how a trace's words map to its own. */
export interface Peer {
  readonly name: string
  /** Its key among this package's dependencies, where its version is pinned. */
  readonly dependency: string
  /** How it is driven, for the page: one statement each. */
  readonly mapping: ReadonlyArray<string>
  /** Why it has no such step; `undefined` if it has. `before` is the time of the step before. */
  readonly lacks: (step: Trace.Step, before: number) => string | undefined
  /** The policy in the peer's words; a text says why there are none. */
  readonly fit: (policy: Policy.Policy) => Fit | string
  /** Whether its own checks refuse a policy with a fault at this path; `undefined` if it has nothing there to check. */
  readonly refuses: (policy: unknown, path: string) => boolean | undefined
  /** Whether it can tell this value in this state. */
  readonly tells: (field: Trace.Mismatch["field"], state: Trace.Observed["state"]) => boolean
  /** By trace: a difference that the peer means, by its documentation, types or comments. */
  readonly dialects: Readonly<Record<string, string>>
}
