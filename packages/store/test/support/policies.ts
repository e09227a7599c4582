import { it } from "@effect/vitest"
import { ModelPolicies, type Service } from "@switchgear/routing/ModelPolicies"
import type { StoreError } from "@switchgear/routing/StoreError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { assert } from "vitest"

/** Stores over one database, each as a process of its own has them; and how its tables are written past them. */
export interface Database<E> {
  readonly layer: (options: {
    readonly pollInterval: number
    readonly staleAfter?: number
  }) => Layer.Layer<ModelPolicies, E>
  readonly run: (statement: string) => Promise<unknown>
}

const replica = <E>(layer: Layer.Layer<ModelPolicies, E>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), (context): Service => Context.get(context, ModelPolicies))

/** Waits until it is so; a test whose condition never comes ends with its timeout. */
const until = <E>(condition: Effect.Effect<boolean, E>): Effect.Effect<void, E> =>
  Effect.flatMap(condition, (met) => (met ? Effect.void : Effect.zipRight(Effect.sleep(10), until(condition))))

const allowed = (store: Service) => Effect.map(store.decide("acme", "gpt-4o"), ({ _tag }) => _tag === "Allowed")

/** What policies in a database promise beyond the laws of the port. */
export const replicas = <E>(database: () => Database<E>): void => {
  it.live("an edit of one replica is in force on the others without being asked for", () =>
    Effect.gen(function* () {
      const layer = database().layer({ pollInterval: 50 })
      const [one, two] = [yield* replica(layer), yield* replica(layer)]
      yield* one.setRules([])
      yield* until(Effect.map(allowed(two), (is) => !is))
      yield* one.setRules([{ org: "acme", model: "gpt-*" }])
      assert.isTrue(yield* allowed(one))
      yield* until(allowed(two))
      yield* one.putClient({ keyHash: "h", org: "acme" })
      yield* until(Effect.map(two.client("h"), Option.isSome))
      yield* two.removeClient("h")
      assert.isTrue(Option.isNone(yield* two.client("h")))
      yield* until(Effect.map(one.client("h"), Option.isNone))
    }).pipe(Effect.scoped)
  )

  it.live("a call asks the database nothing", () =>
    Effect.gen(function* () {
      const { layer, run } = database()
      const store = yield* replica(layer({ pollInterval: 3_600_000 }))
      yield* store.setRules([{ org: "acme", model: "gpt-*" }])
      yield* Effect.promise(() => run("DELETE FROM switchgear_rules"))
      assert.isTrue(yield* allowed(store))
      assert.deepStrictEqual(yield* store.rules, [])
    }).pipe(Effect.scoped)
  )

  it.live("the database itself refuses a chain of nine", () =>
    Effect.gen(function* () {
      const { layer, run } = database()
      yield* replica(layer({ pollInterval: 3_600_000 }))
      const insert = (length: number) => {
        const chain = JSON.stringify(Array.from({ length }, (_, i) => `m${i}`))
        return Effect.promise(() =>
          run(
            `INSERT INTO switchgear_rules (position, org, model, value, chain) VALUES (${-length}, 'o', 'm', '{}', '${chain}')`
          ).then(
            () => "written",
            () => "refused"
          )
        )
      }
      assert.deepStrictEqual([yield* insert(8), yield* insert(9)], ["written", "refused"])
      yield* Effect.promise(() => run("DELETE FROM switchgear_rules"))
    }).pipe(Effect.scoped)
  )

  it.live("a rule that cannot be read is an error, not a rule less", () =>
    Effect.gen(function* () {
      const { layer, run } = database()
      const store = yield* replica(layer({ pollInterval: 3_600_000 }))
      yield* store.setRules([
        { org: "acme", model: "gpt-4o", allow: false },
        { org: "*", model: "*" }
      ])
      yield* Effect.promise(() => run("UPDATE switchgear_rules SET value = '{' WHERE position = 0"))
      const other = yield* replica(layer({ pollInterval: 3_600_000 }))
      const error: StoreError = yield* Effect.flip(other.decide("acme", "gpt-4o"))
      assert.deepInclude(error, { _tag: "StoreError", store: "policies" })
      yield* store.setRules([])
    }).pipe(Effect.scoped)
  )

  it.live("F5: once they cannot be read for longer than `staleAfter`, nothing is allowed", () =>
    Effect.gen(function* () {
      const { layer, run } = database()
      const store = yield* replica(layer({ pollInterval: 20, staleAfter: 300 }))
      yield* store.setRules([{ org: "acme", model: "gpt-*" }])
      yield* Effect.promise(() => run("ALTER TABLE switchgear_revisions RENAME TO away"))
      assert.isTrue(yield* allowed(store))
      yield* until(Effect.match(store.decide("acme", "gpt-4o"), { onFailure: () => true, onSuccess: () => false }))
      yield* Effect.promise(() => run("ALTER TABLE away RENAME TO switchgear_revisions"))
      yield* until(Effect.match(store.decide("acme", "gpt-4o"), { onFailure: () => false, onSuccess: () => true }))
      yield* store.setRules([])
    }).pipe(Effect.scoped)
  )
}
