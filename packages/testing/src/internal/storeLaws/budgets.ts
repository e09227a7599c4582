import { Budgets, type Service } from "@switchgear/routing/Budget"
import * as Effect from "effect/Effect"
import { fresh, holds, type Law, same } from "./law.js"

const law = (name: string, check: (store: Service, org: string) => Law<never>["check"]): Law<Budgets> => ({
  name,
  check: Effect.gen(function* () {
    yield* check(yield* Budgets, yield* fresh)
  })
})

const century = 3_155_760_000_000

export const laws: ReadonlyArray<Law<Budgets>> = [
  law("what many charge adds up, for each organisation and each length of window apart", (store, org) =>
    Effect.gen(function* () {
      const charge = store.charge(org, century, { tokens: 10, usd: 0.5 })
      yield* Effect.all(
        Array.from({ length: 40 }, () => charge),
        { concurrency: 8 }
      )
      yield* store.charge(`${org}-other`, century, { tokens: 1, usd: 1 })
      const { left, tokens, usd } = yield* store.spent(org, century)
      yield* same("spent", { tokens, usd }, { tokens: 400, usd: 20 })
      yield* holds("what is left of the window", left > 0 && left <= century, left)
      yield* same("another window", (yield* store.spent(org, century * 2)).tokens, 0)
    })
  ),
  law("a window that is over is forgotten", (store, org) =>
    Effect.gen(function* () {
      const window = 400
      yield* store.charge(org, window, { tokens: 5, usd: 1 })
      yield* Effect.sleep(window)
      yield* same("in the next", (yield* store.spent(org, window)).tokens, 0)
      yield* store.charge(org, century, { tokens: 5, usd: 1 })
      yield* same("another of its own", (yield* store.spent(org, century)).tokens, 5)
    })
  )
]
