import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Store from "@switchgear/breaker/CircuitBreakerStore"
import * as FaultyClock from "@switchgear/clock/FaultyClock"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import type * as Policy from "@switchgear/core/Policy"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** What a test does to the store that its replicas share, and sees of it. */
export interface Control {
  /** `errors`: it answers that it is not there. `hangs`: it does not answer. */
  state: "up" | "errors" | "hangs"
  /** Whether replicas hear of each other's writes. */
  deaf: boolean
  /** ms before and after each step, drawn anew for each. */
  latency: () => number
  asked: number
  /** Eras, as they were written. */
  readonly eras: Array<number>
  /** Eras of the Opens that were written, also of those that one write took further: a trip and a command on its heels. */
  readonly opens: Set<number>
}

const away = new Store.StoreError({ reason: "Unavailable" })

/** A store in memory on one clock of its own, whatever the clock of who asks. */
export const controlled = Effect.gen(function* () {
  const memory = yield* Store.makeMemory
  const clock = yield* Effect.clock
  const control: Control = { state: "up", deaf: false, latency: () => 0, asked: 0, eras: [], opens: new Set() }
  const pause = Effect.suspend(() => {
    const ms = control.latency()
    return ms === 0 ? Effect.void : Effect.sleep(ms)
  })
  const through = <A>(self: Effect.Effect<A, Store.StoreError>): Effect.Effect<A, Store.StoreError> =>
    Effect.suspend(() => {
      control.asked++
      if (control.state === "errors") return Effect.fail(away)
      if (control.state === "hangs") return Effect.never
      return Effect.zipLeft(Effect.zipRight(pause, Effect.withClock(self, clock)), pause)
    })
  const store: Store.Service = {
    modify: (key, f) =>
      through(
        memory.modify(key, (stored, now) => {
          const answer = f(stored, now)
          const [, after] = answer
          if (after !== stored && after !== undefined) {
            control.eras.push(after.snapshot.era)
            for (const { era, to } of after.transitions) if (to === "Open") control.opens.add(era)
          }
          return answer
        })
      ),
    entries: through(memory.entries),
    remove: (key) => through(memory.remove(key)),
    changes: Stream.filter(memory.changes, () => !control.deaf)
  }
  return { control, store, memory }
})

export type Replica = Registry.Service & {
  /** Ends it without a goodbye: what it had is as it was. */
  readonly kill: Effect.Effect<void>
}

/** So many processes over one store, their wall clocks apart by up to so many ms. */
export const replicas = (
  store: Store.Service,
  policy: Policy.Policy,
  count: number,
  options?: Partial<Registry.StoredOptions> & { readonly apart?: number }
) =>
  Effect.gen(function* () {
    const base = yield* Effect.clock
    const made: Array<Replica> = []
    for (let index = 0; index < count; index++) {
      const by = (options?.apart ?? 0) * index
      const clock = FaultyClock.make(base, by === 0 ? [] : [FaultyClock.jump(0, by, "wall")])
      const scope = yield* Scope.make()
      yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
      const registry = yield* Registry.makeStored({ policy, mode: "shared", ...options }).pipe(
        Effect.provideService(Store.CircuitBreakerStore, store),
        Effect.withClock(clock),
        Scope.extend(scope)
      )
      made.push({ ...registry, kill: Scope.close(scope, Exit.void) })
    }
    // Their fibers have begun to listen.
    yield* Effect.sleep(1)
    return made
  })

export const under = <A, E>(program: Effect.Effect<A, E, Scope.Scope>): Effect.Effect<A, E> =>
  Effect.provide(Effect.scoped(program), VirtualClock.layer)

export const now = Clock.currentTimeMillis
