import { ModelPolicies, type Rule, type Service } from "@switchgear/routing/ModelPolicies"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { fresh, holds, type Law, oddKeys, same } from "./law.js"

const law = (name: string, check: (store: Service) => Law<never>["check"]): Law<ModelPolicies> => ({
  name,
  check: Effect.flatMap(ModelPolicies, check)
})

const rules: ReadonlyArray<Rule> = [
  { org: "acme", model: "gpt-4*", fallbackChain: ["llama", "claude"] },
  { org: "acme", model: "gpt-*", allow: false },
  { org: "a\u0000é*", model: "?", fallbackChain: [] },
  { org: "*", model: "llama" }
]

export const laws: ReadonlyArray<Law<ModelPolicies>> = [
  law("rules come back as they were and decide in order, from their writing on", (store) =>
    Effect.gen(function* () {
      yield* store.setRules([])
      yield* same("none", yield* store.decide("acme", "llama"), { _tag: "Denied" })
      yield* store.setRules(rules)
      yield* same("rules", yield* store.rules, rules)
      yield* same("first", yield* store.decide("acme", "gpt-4o"), { _tag: "Allowed", chain: ["llama", "claude"] })
      yield* same("second", yield* store.decide("acme", "gpt-5"), { _tag: "Denied" })
      yield* same("odd", yield* store.decide("a\u0000é!", "x"), { _tag: "Allowed", chain: [] })
      yield* store.setRules([...rules].reverse().slice(0, 1))
      yield* same("replaced", yield* store.decide("acme", "gpt-4o"), { _tag: "Denied" })
    })
  ),
  law("a chain of more than 8 is refused and changes nothing", (store) =>
    Effect.gen(function* () {
      yield* store.setRules(rules)
      const nine = Array.from({ length: 9 }, (_, i) => `m${i}`)
      const refused = yield* Effect.match(store.setRules([{ org: "*", model: "*", fallbackChain: nine }]), {
        onFailure: ({ _tag }): string => _tag,
        onSuccess: () => "none"
      })
      yield* same("error", refused, "InvalidRules")
      yield* same("rules", yield* store.rules, rules)
    })
  ),
  law("each edit raises the revision; one that was decided on another revision is refused", (store) =>
    Effect.gen(function* () {
      yield* store.setRules(rules)
      const { revision } = yield* store.revised
      const refused = yield* Effect.match(store.setRules([], { revision: revision - 1 }), {
        onFailure: (error) => (error._tag === "RevisionConflict" ? [error.expected, error.actual] : [error._tag]),
        onSuccess: () => ["none"]
      })
      yield* same("error", refused, [revision - 1, revision])
      yield* same("nothing changed", yield* store.revised, { revision, rules })
      const next = yield* store.setRules([], { revision })
      yield* holds("raised", next > revision, next)
      yield* same("read", yield* store.revised, { revision: next, rules: [] })
      const client = { keyHash: yield* fresh, org: "acme" }
      yield* store.putClient(client)
      const put = (yield* store.revised).revision
      yield* holds("raised by a client", put > next, put)
      yield* store.removeClient(client.keyHash)
      yield* holds("raised by its removal", (yield* store.revised).revision > put)
    })
  ),
  law("of many who edit one revision at the same time one does", (store) =>
    Effect.gen(function* () {
      const { revision } = yield* store.revised
      const edits = Array.from({ length: 8 }, (_, i) =>
        Effect.either(store.setRules([{ org: `org-${i}`, model: "*" }], { revision }))
      )
      const done = yield* Effect.all(edits, { concurrency: "unbounded" })
      const won = done.findIndex(({ _tag }) => _tag === "Right")
      yield* same("edits", done.filter(({ _tag }) => _tag === "Right").length, 1)
      yield* same("rules", yield* store.rules, [{ org: `org-${won}`, model: "*" }])
    })
  ),
  law("clients are found by their hash until they are removed", (store) =>
    Effect.gen(function* () {
      const hash = yield* fresh
      const clients = oddKeys.map((org, i) => ({ keyHash: `${hash}-${i}`, org }))
      yield* same("unknown", yield* store.client(`${hash}-0`), Option.none())
      yield* Effect.forEach(clients, store.putClient)
      for (const client of clients)
        yield* same("known", Option.getOrUndefined(yield* store.client(client.keyHash)), client)
      const all = new Set((yield* store.clients).map(({ keyHash }) => keyHash))
      yield* holds(
        "listed",
        clients.every(({ keyHash }) => all.has(keyHash))
      )
      yield* store.putClient({ keyHash: `${hash}-0`, org: "other" })
      yield* same("moved", Option.getOrUndefined(yield* store.client(`${hash}-0`))?.org, "other")
      yield* Effect.forEach(clients, ({ keyHash }) => store.removeClient(keyHash))
      yield* same("revoked", yield* store.client(`${hash}-0`), Option.none())
    })
  )
]
