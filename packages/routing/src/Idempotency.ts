/**
 * The same request with the same key is made once: who repeats it gets the same answer (ROUTING I1 to I6).
 *
 * @since 0.1.0
 */
import * as Claim from "@switchgear/core/Claim"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Runtime from "effect/Runtime"
import type { Call, Served } from "./Call.js"
import { type CallError, statusOf } from "./CallError.js"
import type * as IdempotencyStore from "./IdempotencyStore.js"
import { fingerprintOf } from "./internal/fingerprint.js"
import * as recording from "./internal/recording.js"
import { monotonicMillis } from "./internal/time.js"
import { watch } from "./internal/watch.js"
import type { Ending } from "./internal/watchedBody.js"
import { Rejected } from "./Rejected.js"
import { type Handler, make as makeStage, priorities, type Stage } from "./Stage.js"
import type { StoreError } from "./StoreError.js"

/**
 * How the stage is made.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly store: IdempotencyStore.Service
  /** How long an answer is kept. Default 24 hours. */
  readonly ttl?: Duration.DurationInput | undefined
  /** How long a claim lasts whose call never ends. Default 9 minutes; longer than any call may take. */
  readonly lease?: Duration.DurationInput | undefined
  /** How long one who repeats a running request waits for its answer. Default 0: it is told so at once. */
  readonly wait?: Duration.DurationInput | undefined
  /** `final` (default): what a repetition could not change. `success`: successes only, and no streams. */
  readonly keep?: "final" | "success" | undefined
  /** Bytes of the largest answer that is kept. Default 1 MiB. */
  readonly maxSize?: number | undefined
}

const reject = (status: number, code: string, message: string, retryAfter?: number): Rejected =>
  new Rejected({
    stage: "idempotency",
    status,
    code,
    message,
    ...(retryAfter === undefined ? undefined : { retryAfter })
  })

const tooLong = reject(400, "idempotency_key_too_long", "The idempotency key has more than 256 characters.")
const reused = reject(409, "idempotency_key_reused", "The idempotency key was used for another request.")
const inProgress = (retryAfter: number): Rejected =>
  reject(409, "idempotency_in_progress", "A request with this idempotency key is running.", retryAfter)

/** ms between two looks at a running call. */
const shortest = 25

interface Settings extends Claim.Settings {
  readonly wait: number
}

/** A claim that is ours, and how it ends. */
class Held {
  constructor(
    private readonly call: Call,
    private readonly store: IdempotencyStore.Service,
    private readonly settings: Settings,
    private readonly key: IdempotencyStore.Key,
    private readonly who: Claim.Claimant
  ) {}

  served(served: Served): Effect.Effect<Served> {
    const { answer } = served
    if (answer._tag === "Json") {
      const { body, status } = answer
      const kept = Claim.isKept({ status, size: body.length, stream: false, finished: true }, this.settings)
      return Effect.as(kept ? this.commit(recording.ofServed(served, body)) : this.release, served)
    }
    const tape = new recording.Recording(this.settings.maxSize)
    return Effect.flatMap(Effect.runtime<never>(), (runtime) => {
      // who reads the end can be sure of the record
      const ended = (ending: Ending) => Runtime.runPromise(runtime, this.streamEnded(served, tape, ending))
      return Effect.succeed({ ...served, answer: watch(answer, { chunk: (bytes) => tape.chunk(bytes), ended }) })
    })
  }

  failed(cause: Cause.Cause<CallError>): Effect.Effect<void> {
    const failure = Cause.isInterrupted(cause) ? undefined : Cause.failureOption(cause)
    const stored = failure?._tag === "Some" ? recording.ofError(failure.value) : undefined
    if (failure?._tag !== "Some" || stored === undefined || stored._tag === "Answer") return this.release
    const size = stored.response?.body.length ?? 0
    const told = statusOf(failure.value)
    // both what the client was told and what the upstream said: a 425 may be told as 400
    const kept = [told, stored.failure.status ?? told].every((status) =>
      Claim.isKept({ status, size, stream: false, finished: true }, this.settings)
    )
    return kept ? this.commit(stored) : this.release
  }

  private streamEnded(served: Served, tape: recording.Recording, { _tag }: Ending): Effect.Effect<void> {
    const { size } = tape
    const { status } = served.answer
    const kept = Claim.isKept({ status, size, stream: true, finished: _tag === "Complete" }, this.settings)
    return kept ? this.commit(recording.ofServed(served, tape.bytes())) : this.release
  }

  private commit(stored: IdempotencyStore.Stored): Effect.Effect<void> {
    return this.quietly(this.store.commit(this.key, this.who, stored, this.settings))
  }

  private get release(): Effect.Effect<void> {
    return this.quietly(this.store.release(this.key, this.who))
  }

  /** A record that is not written, or a claim that is not given back, ends by its lease. */
  private quietly(effect: Effect.Effect<unknown, StoreError>): Effect.Effect<void> {
    return Effect.matchEffect(effect, {
      onFailure: () => Effect.sync(() => this.call.journal.note("idempotency_unavailable")),
      onSuccess: () => Effect.void
    })
  }
}

const handler = (next: Handler, store: IdempotencyStore.Service, settings: Settings, run: string): Handler => {
  let calls = 0

  const owned = (call: Call, held: Held, restore: Restore): Effect.Effect<Served, CallError> =>
    Effect.matchCauseEffect(restore(next(call)), {
      onSuccess: (served) => held.served(served),
      onFailure: (cause) => Effect.zipRight(held.failed(cause), Effect.failCause(cause))
    })

  const claim = (
    call: Call,
    key: IdempotencyStore.Key,
    who: Claim.Claimant,
    until: number,
    pause: number,
    restore: Restore
  ): Effect.Effect<Served, CallError> =>
    Effect.matchEffect(store.claim(key, who, settings), {
      // I5: without a claim, and everyone is told
      onFailure: () => {
        call.journal.note("idempotency_unavailable")
        return restore(next(call))
      },
      onSuccess: (verdict): Effect.Effect<Served, CallError> => {
        switch (verdict._tag) {
          case "Claimed":
            return owned(call, new Held(call, store, settings, key, who), restore)
          case "Replay": {
            const again = recording.replay(verdict.result, call.request.model)
            return again instanceof Error ? Effect.fail(again) : Effect.succeed(again)
          }
          case "KeyReused":
            return Effect.fail(reused)
          case "InProgress": {
            const left = until - monotonicMillis(call.clock)
            if (left <= 0) return Effect.fail(inProgress(verdict.retryAfter))
            const later = Math.min(pause * 2, verdict.retryAfter)
            return Effect.zipRight(
              restore(Effect.sleep(Math.min(pause, left))),
              claim(call, key, who, until, later, restore)
            )
          }
        }
      }
    })

  return (call) => {
    const name = call.request.idempotencyKey?.trim()
    // F8, I6: a caller's own credentials share no record
    if (name === undefined || name === "" || call.byo) return next(call)
    if (name.length > 256) return Effect.fail(tooLong)
    return Effect.uninterruptibleMask((restore) => {
      const who = { owner: `${run}-${++calls}`, fingerprint: fingerprintOf(call) }
      const until = settings.wait === 0 ? 0 : monotonicMillis(call.clock) + settings.wait
      return claim(call, { org: call.org, key: name }, who, until, shortest, restore)
    })
  }
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * The Idempotency stage. A call without a key, or with the caller's own credentials, passes it.
 *
 * - The first with a key makes the call. Who repeats it gets what the first one got, `replayed` says so; a stream comes
 *   again as a stream, byte for byte.
 * - While the first is running: `Rejected` 409 `idempotency_in_progress`, or the answer, if it comes within `wait`.
 * - The same key for another request: 409 `idempotency_key_reused`. Over 256 characters: 400.
 * - Kept are successes, and the upstream's 4xx other than 408, 409, 425 and 429. All else gives the key back: other
 *   failures, a caller who left, a stream without its end, an answer over `maxSize`.
 * - Store down: the call runs without a claim, and telemetry notes `idempotency_unavailable`.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Idempotency from "@switchgear/routing/Idempotency"
 * import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
 * import * as Pipeline from "@switchgear/routing/Pipeline"
 * import * as Effect from "effect/Effect"
 *
 * const local = ScriptedProvider.make("local", [ScriptedProvider.ok()])
 * const program = Effect.gen(function*() {
 *   const idempotency = yield* Idempotency.make({ store: yield* IdempotencyStore.makeMemory() })
 *   const pipeline = yield* Pipeline.make({
 *     providers: [{ provider: local }],
 *     models: [{ name: "llama", provider: "local" }],
 *     stages: [idempotency, Pipeline.fallback()]
 *   })
 *   const body = new TextEncoder().encode(`{"model":"llama","messages":[]}`)
 *   const call = pipeline.run({
 *     model: "llama",
 *     operation: "chat.completions",
 *     body,
 *     stream: false,
 *     headers: {},
 *     idempotencyKey: "order-17"
 *   })
 *   yield* call
 *   const again = yield* call
 *   return [again.replayed, yield* local.calls]
 * })
 * assert.deepStrictEqual(await Effect.runPromise(Effect.scoped(program)), [true, 1])
 * ```
 */
export const make = (options: Options): Effect.Effect<Stage> =>
  Effect.map(Random.nextIntBetween(0, 2 ** 52), (random) => {
    const { keep, lease, maxSize, store, ttl, wait } = options
    const settings: Settings = {
      ...Claim.defaults,
      ...(lease === undefined ? undefined : { lease: Duration.toMillis(lease) }),
      ...(ttl === undefined ? undefined : { ttl: Duration.toMillis(ttl) }),
      ...(maxSize === undefined ? undefined : { maxSize }),
      ...(keep === undefined ? undefined : { store: keep }),
      wait: Duration.toMillis(wait ?? 0)
    }
    return makeStage("idempotency", priorities.idempotency, (next) =>
      handler(next, store, settings, random.toString(36))
    )
  })
