import { assert, describe, it } from "@effect/vitest"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Claim from "@switchgear/core/Claim"
import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
import * as Access from "@switchgear/routing/Access"
import * as Idempotency from "@switchgear/routing/Idempotency"
import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
import * as Pipeline from "@switchgear/routing/Pipeline"
import * as Telemetry from "@switchgear/routing/Telemetry"
import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { ask, build, codeOf, down, fallback, read, text } from "./pipelineHelpers.js"

const key = { idempotencyKey: "order-17" }

const world = (
  script: ScriptedProvider.Script,
  options: Partial<Idempotency.Options> & { readonly access?: Access.Access } = {}
) =>
  Effect.gen(function* () {
    const { access, ...rest } = options
    const store = rest.store ?? (yield* IdempotencyStore.makeMemory())
    const provider = ScriptedProvider.make("p0", script)
    const stage = yield* Idempotency.make({ ...rest, store })
    const { pipeline } = yield* build([provider], {
      stages: [stage, fallback(), Pipeline.breaker()],
      ...(access === undefined ? undefined : { access })
    })
    return { provider, store, pipeline }
  })

const virtual = <A, E>(effect: Effect.Effect<A, E>) => Effect.provide(effect, VirtualClock.layer)

describe("Idempotency", () => {
  it.live("I2: 200 concurrent calls with one key reach the provider once; the others are told or wait", () =>
    virtual(
      Effect.gen(function* () {
        const slow = ScriptedProvider.delay(ScriptedProvider.ok("one"), "2 seconds")
        const { pipeline, provider } = yield* world([slow])
        const call = Effect.either(pipeline.runUnscoped(ask(key)))
        const all = yield* Effect.all(
          Array.from({ length: 200 }, () => call),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(yield* provider.calls, 1)
        assert.strictEqual(all.filter(Either.isRight).length, 1)
        for (const one of all) if (Either.isLeft(one)) assert.strictEqual(codeOf(one.left), "idempotency_in_progress")

        const waiting = yield* world([slow], { wait: "10 seconds" })
        const same = waiting.pipeline.runUnscoped(ask(key))
        const served = yield* Effect.all(
          Array.from({ length: 200 }, () => same),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(yield* waiting.provider.calls, 1)
        assert.strictEqual(served.filter(({ replayed }) => !replayed).length, 1)
        const bodies = new Set(served.map(({ answer }) => (answer._tag === "Json" ? text(answer.body) : "")))
        assert.strictEqual(bodies.size, 1)
      })
    )
  )

  it.live("I2: one who waits too long is told that the request is running, with a Retry-After", () =>
    virtual(
      Effect.gen(function* () {
        const slow = ScriptedProvider.delay(ScriptedProvider.ok(), "20 seconds")
        const { pipeline } = yield* world([slow], { wait: "3 seconds" })
        yield* Effect.fork(pipeline.runUnscoped(ask(key)))
        yield* Effect.sleep(1)
        const error = yield* Effect.flip(pipeline.runUnscoped(ask(key)))
        assert(error._tag === "Rejected")
        assert.deepStrictEqual([error.status, error.code, error.retryAfter], [409, "idempotency_in_progress", 1_000])
      })
    )
  )

  it.live("I3: an owner who is interrupted frees the key at once, one that is killed when its lease ends", () =>
    virtual(
      Effect.gen(function* () {
        const { pipeline, provider, store } = yield* world([ScriptedProvider.hang, ScriptedProvider.ok()])
        const owner = yield* Effect.fork(pipeline.runUnscoped(ask(key)))
        yield* Effect.sleep(1)
        yield* Fiber.interrupt(owner)
        assert.strictEqual((yield* pipeline.runUnscoped(ask(key))).replayed, false)
        assert.strictEqual(yield* provider.calls, 2)

        // a process that dies neither commits nor releases
        const killed = { org: "default", key: "order-18" }
        const second = { idempotencyKey: killed.key }
        const fingerprint = yield* fingerprintOf(second)
        yield* store.claim(killed, { owner: "the dead", fingerprint }, Claim.defaults)
        assert.strictEqual(codeOf(yield* Effect.flip(pipeline.runUnscoped(ask(second)))), "idempotency_in_progress")
        yield* Effect.sleep("9 minutes")
        assert.strictEqual((yield* pipeline.runUnscoped(ask(second))).replayed, false)
      })
    )
  )

  it.live(
    "I1: another request with the key is 409, spacing and order of keys aside; another organisation is another",
    () =>
      Effect.gen(function* () {
        const { pipeline, provider } = yield* world([ScriptedProvider.ok()])
        const body = (json: string) => new TextEncoder().encode(json)
        const a = body(`{"model":"m0","messages":[],"temperature":1}`)
        const same = body(`{ "temperature": 1.0, "messages": [],\n "model": "m0" }`)
        yield* pipeline.runUnscoped(ask({ ...key, body: a }))
        assert.strictEqual((yield* pipeline.runUnscoped(ask({ ...key, body: same }))).replayed, true)
        for (const other of [
          ask({ ...key, body: body(`{"model":"m0","messages":[],"temperature":0}`) }),
          ask({ ...key, body: a, stream: true }),
          ask({ ...key, body: a, operation: "responses" })
        ]) {
          const error = yield* Effect.flip(pipeline.runUnscoped(other))
          assert(error._tag === "Rejected")
          assert.deepStrictEqual([error.status, error.code], [409, "idempotency_key_reused"])
        }
        assert.strictEqual((yield* pipeline.runUnscoped(ask({ ...key, body: a, org: "other" }))).replayed, false)
        assert.strictEqual(yield* provider.calls, 2)
      })
  )

  it.live("I1: keys are trimmed; blank is none; over 256 characters is 400 and calls nothing", () =>
    Effect.gen(function* () {
      const { pipeline, provider } = yield* world([ScriptedProvider.ok()])
      const run = (idempotencyKey: string) => pipeline.runUnscoped(ask({ idempotencyKey }))
      yield* run(` ${"k".repeat(256)} `)
      assert.strictEqual((yield* run("k".repeat(256))).replayed, true)
      yield* run("  ")
      assert.strictEqual((yield* run("")).replayed, false)
      const calls = yield* provider.calls
      const error = yield* Effect.flip(run("k".repeat(257)))
      assert(error._tag === "Rejected")
      assert.deepStrictEqual([error.status, error.code], [400, "idempotency_key_too_long"])
      assert.strictEqual(yield* provider.calls, calls)
    })
  )

  it.live("I3: what is kept and what gives the key back, by status", () =>
    Effect.gen(function* () {
      for (const [status, kept] of [
        [400, true],
        [404, true],
        [413, true],
        [422, true],
        [401, false],
        [403, false],
        [408, false],
        [409, false],
        [425, false],
        [429, false],
        [500, false],
        [503, false],
        [529, false]
      ] as const) {
        const { pipeline, provider } = yield* world([ScriptedProvider.status(status, { message: "no" })])
        const first = yield* Effect.flip(pipeline.runUnscoped(ask(key)))
        const second = yield* Effect.flip(pipeline.runUnscoped(ask(key)))
        assert.strictEqual(yield* provider.calls, kept ? 1 : 2, `${status}`)
        assert(first._tag === "RouteError" && first.reason._tag === "Failed")
        assert(second._tag === "RouteError" && second.reason._tag === "Failed")
        assert.deepStrictEqual(second.reason.error.failure, first.reason.error.failure)
        assert.deepStrictEqual(second.reason.error.response, first.reason.error.response)
      }
    })
  )

  it.live("I4: a finished stream is replayed as a stream, byte for byte; an unfinished one gives the key back", () =>
    Effect.gen(function* () {
      const parts = ["Hel", "lo ", "wörld"]
      const { pipeline, provider } = yield* world([
        ScriptedProvider.cut(parts),
        ScriptedProvider.ok("left unread"),
        ScriptedProvider.drip(parts, 0),
        ScriptedProvider.ok("never")
      ])
      const stream = ask({ ...key, stream: true })
      const run = Effect.scoped(
        Effect.flatMap(pipeline.run(stream), ({ answer, replayed }) => {
          assert(answer._tag === "Stream")
          return Effect.map(
            Effect.tryPromise(() => read(answer.body)),
            (bytes) => ({ bytes: text(bytes), replayed })
          )
        })
      )
      assert(Either.isLeft(yield* Effect.either(run)))
      // one who leaves in the middle
      yield* Effect.scoped(Effect.asVoid(pipeline.run(ask({ idempotencyKey: "left", stream: true }))))
      const before = yield* provider.calls
      const first = yield* run
      assert.include(first.bytes, "wörld")
      const again = yield* run
      const third = yield* run
      assert.deepStrictEqual([first.replayed, again.replayed, third.replayed], [false, true, true])
      assert.strictEqual(again.bytes, first.bytes)
      assert.strictEqual(third.bytes, first.bytes)
      assert.strictEqual(yield* provider.calls, before + 1)
    })
  )

  it.live("I3: an answer over the limit is not kept, JSON or stream", () =>
    Effect.gen(function* () {
      const { pipeline, provider } = yield* world([ScriptedProvider.ok("x".repeat(500))], { maxSize: 300 })
      yield* pipeline.runUnscoped(ask(key))
      assert.strictEqual((yield* pipeline.runUnscoped(ask(key))).replayed, false)
      for (let call = 0; call < 2; call++) {
        yield* Effect.scoped(
          Effect.flatMap(pipeline.run(ask({ idempotencyKey: "s", stream: true })), ({ answer, replayed }) => {
            assert(answer._tag === "Stream" && !replayed)
            return Effect.promise(() => read(answer.body))
          })
        )
      }
      assert.strictEqual(yield* provider.calls, 4)
    })
  )

  it.live("I3: `success` keeps neither a 4xx nor a stream", () =>
    Effect.gen(function* () {
      const refused = yield* world([ScriptedProvider.status(400)], { keep: "success" })
      yield* Effect.flip(refused.pipeline.runUnscoped(ask(key)))
      yield* Effect.flip(refused.pipeline.runUnscoped(ask(key)))
      assert.strictEqual(yield* refused.provider.calls, 2)
      const streamed = yield* world([ScriptedProvider.ok()], { keep: "success" })
      for (let call = 0; call < 2; call++) {
        yield* Effect.scoped(
          Effect.flatMap(streamed.pipeline.run(ask({ ...key, stream: true })), ({ answer }) =>
            Effect.promise(async () => (answer._tag === "Stream" ? read(answer.body) : undefined))
          )
        )
      }
      assert.strictEqual(yield* streamed.provider.calls, 2)
    })
  )

  it.live("I5: with its store down the call runs without a claim, and telemetry says so", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const store: IdempotencyStore.Service = {
          claim: () => down("idempotency"),
          commit: () => down("idempotency"),
          release: () => down("idempotency")
        }
        const rows = yield* TelemetryStore.makeMemory()
        const telemetry = yield* Telemetry.make({ store: rows })
        const provider = ScriptedProvider.make("p0", [ScriptedProvider.ok()])
        const { pipeline } = yield* build([provider], {
          stages: [telemetry.stage, yield* Idempotency.make({ store }), fallback()]
        })
        yield* pipeline.run(ask(key))
        yield* pipeline.run(ask(key))
        assert.strictEqual(yield* provider.calls, 2)
        yield* telemetry.flush
        const recent = yield* rows.recent(2)
        assert.deepStrictEqual(
          recent.map(({ notes }) => notes),
          [["idempotency_unavailable"], ["idempotency_unavailable"]]
        )
      })
    )
  )

  it.live("I6, F8: what a caller's own key was answered is nobody else's, nor a replay theirs", () =>
    Effect.gen(function* () {
      const { pipeline, provider } = yield* world([ScriptedProvider.ok()])
      const own = ask({ ...key, apiKey: Redacted.make("sk-own") })
      yield* pipeline.runUnscoped(own)
      yield* pipeline.runUnscoped(own)
      assert.strictEqual((yield* pipeline.runUnscoped(ask(key))).replayed, false)
      assert.strictEqual((yield* pipeline.runUnscoped(own)).replayed, false)
      assert.strictEqual(yield* provider.calls, 4)
    })
  )

  it.live("S0: a key that was revoked, or a model that was denied meanwhile, gets no replay", () =>
    Effect.gen(function* () {
      const clientKey = Redacted.make("sg-acme")
      const client = { keyHash: Access.hashKey(clientKey), org: "acme" }
      const policies = yield* ModelPolicies.makeMemory({ rules: [{ org: "*", model: "*" }], clients: [client] })
      const { pipeline } = yield* world([ScriptedProvider.ok()], {
        access: Access.policies(policies, { clients: "required" })
      })
      const call = pipeline.runUnscoped(ask({ ...key, clientKey }))
      yield* call
      assert.strictEqual((yield* call).replayed, true)
      yield* policies.setRules([{ org: "*", model: "*", allow: false }])
      assert.strictEqual(codeOf(yield* Effect.flip(call)), "NotAllowed")
      yield* policies.setRules([{ org: "*", model: "*" }])
      yield* policies.removeClient(client.keyHash)
      assert.strictEqual(codeOf(yield* Effect.flip(call)), "invalid_client_key")
    })
  )

  it.live("I3: a late finisher never overwrites what the next owner did", () =>
    virtual(
      Effect.gen(function* () {
        const { pipeline, provider } = yield* world(
          [ScriptedProvider.delay(ScriptedProvider.ok("late"), "50 seconds"), ScriptedProvider.ok("second")],
          { lease: "10 seconds" }
        )
        const late = yield* Effect.fork(pipeline.runUnscoped(ask(key)))
        yield* Effect.sleep("20 seconds")
        yield* pipeline.runUnscoped(ask(key))
        yield* Fiber.join(late)
        const { answer, replayed } = yield* pipeline.runUnscoped(ask(key))
        assert(answer._tag === "Json" && replayed)
        assert.include(text(answer.body), "second")
        assert.strictEqual(yield* provider.calls, 2)
      })
    )
  )

  it.live("the memory store stays within its bounds, and keeps every claim", () =>
    Effect.gen(function* () {
      const store = yield* IdempotencyStore.makeMemory({ capacity: 100 })
      const who = (n: number) => ({ owner: `o${n}`, fingerprint: "f" })
      const at = (n: number) => ({ org: "a", key: `k${n}` })
      const body = new Uint8Array(10)
      const stored: IdempotencyStore.Stored = {
        _tag: "Answer",
        stream: false,
        status: 200,
        headers: {},
        body,
        model: "m",
        provider: "p",
        substituted: false
      }
      yield* store.claim(at(-1), who(-1), Claim.defaults)
      for (let n = 0; n < 1_000; n++) {
        yield* store.claim(at(n), who(n), Claim.defaults)
        yield* store.commit(at(n), who(n), stored, Claim.defaults)
      }
      const held: Array<number> = []
      for (let n = 0; n < 1_000; n++) {
        const verdict = yield* store.claim(at(n), { owner: "x", fingerprint: "g" }, Claim.defaults)
        if (verdict._tag === "KeyReused") held.push(n)
        else yield* store.release(at(n), { owner: "x", fingerprint: "g" })
      }
      assert.isAtMost(held.length, 100)
      assert.strictEqual(yield* store.release(at(-1), who(-1)), "Released")
    })
  )
})

/** The fingerprint of a request, as the stage has it: read from a claim it makes on a store that tells. */
const fingerprintOf = (over: { readonly idempotencyKey: string }) =>
  Effect.gen(function* () {
    let seen = ""
    const spy: IdempotencyStore.Service = {
      claim: (_key, { fingerprint }) => {
        seen = fingerprint
        return down("idempotency")
      },
      commit: () => down("idempotency"),
      release: () => down("idempotency")
    }
    const { pipeline } = yield* world([ScriptedProvider.ok()], { store: spy })
    yield* pipeline.runUnscoped(ask(over))
    return seen
  })
