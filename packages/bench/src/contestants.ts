import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Breaker from "@switchgear/core/Breaker"
import * as Guard from "@switchgear/core/Guard"
import type * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import CircuitBreakerOfOpossum from "opossum"
import * as HandWritten from "./handwritten.js"
import type { Contestant } from "./measure.js"

/** What the guarded call does. */
export type Work = "success" | "failure"

/** The one error of all failing calls; only the machines look at its kind. */
const down = Object.assign(new Error("down"), { kind: "server_error" })

export const work = { success: async (): Promise<number> => 1, failure: (): Promise<number> => Promise.reject(down) }

const effects: Readonly<Record<Work, Effect.Effect<number, Error>>> = {
  success: Effect.succeed(1),
  failure: Effect.fail(down)
}

/** The machine alone: acquire and report, a millisecond later each time, so that no step is spared. */
export const pure = (policy: Policy.Policy, kind: Work): Contestant => {
  const outcome = kind === "success" ? Breaker.success() : Breaker.failure("server_error")
  let state = Breaker.initial(policy, 0)
  let now = 0
  return {
    name: "pure step",
    run: (calls) => {
      for (let call = 0; call < calls; call++) {
        now++
        const [admission, admitted] = Breaker.acquire(policy, state, now)
        state =
          admission._tag === "Admitted"
            ? Breaker.report(policy, admitted, admission.permit, outcome, now, 0)[1]
            : admitted
      }
    }
  }
}

/** A refused acquire, in an Open that stays open. */
export const pureRejection = (policy: Policy.Policy): Contestant => {
  let state = Breaker.initial(policy, 0)
  while (state._tag !== "Open") {
    const [admission, admitted] = Breaker.acquire(policy, state, 0)
    if (admission._tag === "Rejected") throw new Error("not open, and refusing")
    state = Breaker.report(policy, admitted, admission.permit, Breaker.failure("server_error"), 0, 0)[1]
  }
  let now = 0
  return {
    name: "pure step",
    run: (calls) => {
      for (let call = 0; call < calls; call++) {
        now = (now + 1) % 1000
        state = Breaker.acquire(policy, state, now)[1]
      }
    }
  }
}

/** Anything that runs an async function, called the way its users do. */
export const promised = (name: string, execute: (kind: Work) => Promise<unknown>, kind: Work): Contestant => ({
  name,
  run:
    kind === "success"
      ? async (calls) => {
          for (let call = 0; call < calls; call++) await execute(kind)
        }
      : async (calls) => {
          for (let call = 0; call < calls; call++) {
            try {
              await execute(kind)
            } catch {
              // what the caller does with it is not the breaker's cost
            }
          }
        }
})

export const guard = (policy: Policy.Policy) => {
  const made = Guard.make({ name: "bench", policy })
  return (kind: Work): Promise<unknown> => made.run(work[kind])
}

/** As its README says to be fast: without percentiles, snapshots and its own timeout. */
export const opossum = (options: CircuitBreakerOfOpossum.Options) => {
  const breaker = new CircuitBreakerOfOpossum((kind: Work) => work[kind](), {
    timeout: false,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
    ...options
  })
  return { breaker, execute: (kind: Work): Promise<unknown> => breaker.fire(kind) }
}

export const looped = (name: string, call: Effect.Effect<unknown, unknown>, kind: Work): Contestant => {
  const body: Effect.Effect<unknown> =
    kind === "success" ? Effect.orDie(call) : Effect.catchAll(call, () => Effect.void)
  return {
    name,
    run: (calls) => {
      let left = calls
      Effect.runSync(
        Effect.whileLoop({
          while: () => left > 0,
          body: () => body,
          step: () => {
            left--
          }
        })
      )
    }
  }
}

/** The guard, in a loop of one fiber. */
export const guarded = (policy: Policy.Policy, kind: Work): Contestant => {
  const breaker = Effect.runSync(CircuitBreaker.make({ name: "bench", policy }))
  return looped("Effect guard", CircuitBreaker.guard(effects[kind], breaker), kind)
}

/** The hand-written breaker, in a loop of one fiber. */
export const handWritten = (
  options: { readonly failureThreshold: number; readonly cooldown: number },
  kind: Work
): Contestant => {
  const breaker = Effect.runSync(HandWritten.make(options))
  return looped("hand-written Effect", breaker.guard(effects[kind]), kind)
}

/** The loops alone. */
export const bare = (kind: Work): ReadonlyArray<Contestant> => [
  looped("(no breaker, Effect)", effects[kind], kind),
  promised("(no breaker, promise)", (given) => work[given](), kind)
]
