import * as Claim from "@switchgear/core/Claim"
import { IdempotencyStore, type Key, type Service, type Stored } from "@switchgear/routing/IdempotencyStore"
import * as Effect from "effect/Effect"
import { fresh, holds, type Law, oddKeys, same } from "./law.js"

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7) % 256)

const answer = (body: Uint8Array): Stored => ({
  _tag: "Answer",
  stream: false,
  status: 200,
  headers: { "content-type": "application/json" },
  body,
  model: "gpt-4o",
  provider: "openai",
  substituted: false
})

const failed: Stored = {
  _tag: "Failed",
  model: "gpt-4o",
  provider: "openai",
  failure: { kind: "client_fault", scope: "none", status: 400, message: "a\u0000é" },
  response: { status: 400, headers: {}, body: bytes(300) }
}

const one = { owner: "call-1", fingerprint: "f" }
const two = { owner: "call-2", fingerprint: "f" }

const law = (name: string, check: (store: Service, key: Key) => Law<never>["check"]): Law<IdempotencyStore> => ({
  name,
  check: Effect.gen(function* () {
    const store = yield* IdempotencyStore
    yield* check(store, { org: "acme", key: yield* fresh })
  })
})

export const laws: ReadonlyArray<Law<IdempotencyStore>> = [
  law("of many claimants one gets the key, the others hear that it is in progress", (store, key) =>
    Effect.gen(function* () {
      const claims = Array.from({ length: 20 }, (_, i) =>
        store.claim(key, { owner: `call-${i}`, fingerprint: "f" }, Claim.defaults)
      )
      const verdicts = (yield* Effect.all(claims, { concurrency: "unbounded" })).map(({ _tag }) => _tag)
      yield* same("claimed", verdicts.filter((tag) => tag === "Claimed").length, 1)
      yield* same("in progress", verdicts.filter((tag) => tag === "InProgress").length, 19)
    })
  ),
  law("an answer is replayed byte for byte, a failure too; another request under its key is refused", (store, key) =>
    Effect.gen(function* () {
      for (const [index, stored] of [answer(bytes(1_000)), answer(bytes(65_536)), failed].entries()) {
        const own = { ...key, key: `${key.key}:${index}` }
        yield* store.claim(own, one, Claim.defaults)
        yield* same("commit", yield* store.commit(own, one, stored, Claim.defaults), "Committed")
        yield* same("replay", yield* store.claim(own, two, Claim.defaults), { _tag: "Replay", result: stored })
        const other = yield* store.claim(own, { owner: "call-3", fingerprint: "g" }, Claim.defaults)
        yield* same("other request", other._tag, "KeyReused")
      }
    })
  ),
  law("what is released may be claimed; only its owner may commit or release", (store, key) =>
    Effect.gen(function* () {
      yield* store.claim(key, one, Claim.defaults)
      yield* same("release by another", yield* store.release(key, two), "Lost")
      yield* same("commit by another", yield* store.commit(key, two, failed, Claim.defaults), "Lost")
      yield* same("release", yield* store.release(key, one), "Released")
      yield* same("claim", (yield* store.claim(key, two, Claim.defaults))._tag, "Claimed")
    })
  ),
  law("a claim ends with its lease and an answer with its time, not before", (store, key) =>
    Effect.gen(function* () {
      const brief = { ...Claim.defaults, lease: 300, ttl: 300 }
      yield* store.claim(key, one, brief)
      yield* same("within the lease", (yield* store.claim(key, two, brief))._tag, "InProgress")
      yield* Effect.sleep(320)
      yield* same("after the lease", (yield* store.claim(key, two, brief))._tag, "Claimed")
      yield* store.commit(key, two, answer(bytes(10)), brief)
      yield* same("within its time", (yield* store.claim(key, one, brief))._tag, "Replay")
      yield* Effect.sleep(320)
      yield* same("after its time", (yield* store.claim(key, one, brief))._tag, "Claimed")
    })
  ),
  law("any key and any organisation", (store, key) =>
    Effect.gen(function* () {
      for (const odd of oddKeys) {
        for (const own of [
          { org: odd, key: key.key },
          { org: key.key, key: odd }
        ]) {
          const verdict = yield* store.claim(own, one, Claim.defaults)
          yield* holds(JSON.stringify(own).slice(0, 60), verdict._tag === "Claimed", verdict)
          yield* store.release(own, one)
        }
      }
    })
  )
]
