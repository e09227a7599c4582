/**
 * The machine around a promise, for programs without Effect.
 *
 * @since 0.1.0
 */
import * as Breaker from "./Breaker.js"
import { outcomeOfError, outcomeOfValue } from "./internal/classifyPromise.js"
import type { Command, Event, ObservedState, Outcome, Permit, State, View } from "./internal/model.js"
import type { Policy } from "./internal/policyModel.js"
import * as Snapshot from "./Snapshot.js"

/** An `Error` by its prototype that none was constructed for: capturing a stack costs more than the refusal. */
const LightError: new () => Error = /*#__PURE__*/ (() => {
  function LightError() {}
  LightError.prototype = Error.prototype
  return LightError as unknown as new () => Error
})()

/**
 * The call was refused: the breaker is open, or HalfOpen with every probe out. It carries no stack, because nothing went
 * wrong where it is raised.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Guard from "@switchgear/core/Guard"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const guard = Guard.make({ name: "openai", policy: Policy.hosted })
 * guard.command(Breaker.forceOpen(60_000))
 * await assert.rejects(
 *   guard.run(() => "served"),
 *   (error) => error instanceof Guard.CircuitOpenError && error.state === "Open" && (error.retryAfter ?? 0) > 59_000
 * )
 * ```
 *
 * @since 0.1.0
 * @category errors
 */
export class CircuitOpenError extends LightError {
  readonly _tag = "CircuitOpenError"
  override readonly name = "CircuitOpenError"
  override readonly message: string

  constructor(
    readonly breaker: string,
    readonly state: ObservedState,
    /** ms until a call may be tried again; `undefined` when only a command ends it. */
    readonly retryAfter: number | undefined
  ) {
    super()
    const again = retryAfter === undefined ? "" : `; try again in ${retryAfter} ms`
    this.message = `circuit breaker "${breaker}" is open${again}`
  }
}

/**
 * How a guard is made.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Shown in errors and events. */
  readonly name: string
  readonly policy: Policy
  /** `false`: shadow mode. It counts and transitions, and rejects nothing. Default `true`. */
  readonly enforce?: boolean
  /** Monotonic ms. Default: the platform's `performance.now`. */
  readonly now?: () => number
  /** In [0, 1), what jitter is made of. Default: `Math.random`. */
  readonly random?: () => number
  /**
   * What a rejection means. Default: by the error's own `kind`, its name (`AbortError` releases, `TimeoutError` is a
   * timeout), its status, the code of a socket's error; else `unknown`. One that throws makes it `unknown`.
   */
  readonly classifyError?: (error: unknown) => Outcome
  /** What a value means. Default: a `Response` whose `ok` is false is a failure of its status, all else a success. */
  readonly classifyValue?: (value: unknown) => Outcome
}

/**
 * What one run may be given.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunOptions {
  /**
   * Passed on to the call. When it aborts, the run rejects with its reason at once; the call is released and counts
   * nowhere, except that a `TimeoutError` (as of `AbortSignal.timeout`) is a failure of kind `timeout`.
   */
  readonly signal?: AbortSignal | undefined
}

/**
 * A breaker around promises.
 *
 * @since 0.1.0
 * @category models
 */
export interface Guard {
  readonly name: string
  /**
   * Makes the call if the breaker admits it. Resolves and rejects as the call does, or rejects with `CircuitOpenError`.
   */
  readonly run: <A>(call: (signal: AbortSignal) => A | PromiseLike<A>, options?: RunOptions) => Promise<A>
  readonly view: () => View
  /** Throws a `RangeError` for a `forceOpen` whose length is no positive whole number of ms. */
  readonly command: (command: Command) => void
  /** `wall`: the time of day, ms since 1970. */
  readonly snapshot: (wall: number) => Snapshot.Snapshot
  readonly restore: (snapshot: Snapshot.Snapshot, wall: number) => void
  /**
   * Calls the listener for each transition, in order, after it is committed. One that throws changes nothing. Returns
   * what ends it.
   */
  readonly onTransition: (listener: (event: Event) => void) => () => void
}

const monotonic = (): number => performance.now()

const attempt = (classify: (given: unknown) => Outcome, given: unknown): Outcome => {
  try {
    return classify(given)
  } catch {
    return { _tag: "Failure", kind: "unknown" }
  }
}

/** For calls that take no signal. The others get one each: what listens to a shared one would never be let go. */
const never = new AbortController().signal

class Cell implements Guard {
  readonly name: string
  private state: State
  private readonly listeners = new Set<(event: Event) => void>()
  private pending: Array<Event> = []
  private delivering = false
  private readonly enforce: boolean
  private readonly now: () => number
  private readonly random: () => number
  private readonly policy: Policy
  private readonly classifyError: (error: unknown) => Outcome
  private readonly classifyValue: (value: unknown) => Outcome

  constructor(options: Options) {
    this.name = options.name
    this.policy = options.policy
    this.enforce = options.enforce ?? true
    this.now = options.now ?? monotonic
    this.random = options.random ?? Math.random
    this.classifyError = options.classifyError ?? outcomeOfError
    this.classifyValue = options.classifyValue ?? outcomeOfValue
    this.state = Breaker.initial(this.policy, this.now())
  }

  private commit(state: State, events: ReadonlyArray<Event>): void {
    this.state = state
    if (events.length === 0 || this.listeners.size === 0) return
    this.pending.push(...events)
    if (this.delivering) return
    this.delivering = true
    for (let event = this.pending.shift(); event !== undefined; event = this.pending.shift()) {
      for (const listener of this.listeners) {
        try {
          listener(event)
        } catch {
          // A listener's failure is its own (SEMANTICS S3).
        }
      }
    }
    this.delivering = false
  }

  private report(permit: Permit | undefined, outcome: Outcome): void {
    if (permit === undefined) return
    const [, state, events] = Breaker.report(this.policy, this.state, permit, outcome, this.now(), this.random())
    this.commit(state, events)
  }

  readonly run = <A>(call: (signal: AbortSignal) => A | PromiseLike<A>, options?: RunOptions): Promise<A> => {
    const signal = options?.signal
    if (signal?.aborted) return Promise.reject(signal.reason)
    const now = this.now()
    const [admission, state, events] = Breaker.acquire(this.policy, this.state, now)
    this.commit(state, events)
    if (admission._tag === "Rejected" && this.enforce) {
      const seen = this.state._tag === "HalfOpen" ? "HalfOpen" : "Open"
      return Promise.reject(new CircuitOpenError(this.name, seen, admission.retryAfter))
    }
    const permit = admission._tag === "Admitted" ? admission.permit : undefined
    return signal === undefined ? this.plain(permit, call) : this.abortable(permit, call, signal)
  }

  private async plain<A>(permit: Permit | undefined, call: (signal: AbortSignal) => A | PromiseLike<A>): Promise<A> {
    let value: A
    try {
      value = await call(call.length > 0 ? new AbortController().signal : never)
    } catch (error) {
      this.report(permit, attempt(this.classifyError, error))
      throw error
    }
    this.report(permit, attempt(this.classifyValue, value))
    return value
  }

  private abortable<A>(
    permit: Permit | undefined,
    call: (signal: AbortSignal) => A | PromiseLike<A>,
    signal: AbortSignal
  ): Promise<A> {
    return new Promise((resolve, reject) => {
      let settled = false
      const settle = (outcome: Outcome): boolean => {
        if (settled) return false
        settled = true
        signal.removeEventListener("abort", aborted)
        this.report(permit, outcome)
        return true
      }
      const aborted = (): void => {
        const reason: unknown = signal.reason
        const timedOut = reason instanceof Error && reason.name === "TimeoutError"
        if (settle(timedOut ? { _tag: "Failure", kind: "timeout" } : { _tag: "Released" })) reject(reason)
      }
      signal.addEventListener("abort", aborted)
      const called = async (): Promise<A> => call(signal)
      called().then(
        (value) => {
          if (!settled && settle(attempt(this.classifyValue, value))) resolve(value)
        },
        (error: unknown) => {
          if (!settled && settle(attempt(this.classifyError, error))) reject(error)
        }
      )
    })
  }

  readonly view = (): View => Breaker.observe(this.policy, this.state, this.now())

  readonly command = (command: Command): void => {
    if (
      command._tag === "ForceOpen" &&
      command.for !== undefined &&
      !(command.for > 0 && Number.isInteger(command.for))
    ) {
      throw new RangeError(`forceOpen: "for" must be a positive whole number of ms, not ${command.for}`)
    }
    const [state, events] = Breaker.command(this.policy, this.state, command, this.now())
    this.commit(state, events)
  }

  readonly snapshot = (wall: number): Snapshot.Snapshot => Snapshot.snapshot(this.state, this.now(), wall)

  readonly restore = (snapshot: Snapshot.Snapshot, wall: number): void => {
    this.state = Snapshot.restore(this.policy, snapshot, this.now(), wall, this.state)
  }

  readonly onTransition = (listener: (event: Event) => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}

/**
 * Makes a breaker around promises. It cannot fail; a bad policy failed when it was made.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Guard from "@switchgear/core/Guard"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const guard = Guard.make({ name: "openai", policy: Policy.consecutive({ failureThreshold: 2 }) })
 * const broken = () => guard.run(async () => { throw new Error("down") })
 * await assert.rejects(broken, /down/)
 * await assert.rejects(broken, /down/)
 * await assert.rejects(broken, Guard.CircuitOpenError)
 * assert.strictEqual(guard.view().state, "Open")
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Guard => new Cell(options)
