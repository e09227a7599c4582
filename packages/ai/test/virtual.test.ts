import * as LanguageModel from "@effect/ai/LanguageModel"
import { assert, it } from "@effect/vitest"
import * as FallbackLanguageModel from "@switchgear/ai/FallbackLanguageModel"
import * as ScriptedLanguageModel from "@switchgear/ai/ScriptedLanguageModel"
import { ok, status } from "@switchgear/ai/ScriptedLanguageModel"
import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The service under test: it knows of no breaker and no fallback. */
const ask = LanguageModel.generateText({ prompt: "Hello" })

it.live("isolates, then probes once", () => {
  const primary = ScriptedLanguageModel.make([status(503), status(503), ok("back")])
  const backup = ScriptedLanguageModel.make([ok("backup")]) // the last step repeats
  const Simulated = FallbackLanguageModel.layer({
    targets: [
      { name: "primary", layer: primary.layer },
      { name: "backup", layer: backup.layer }
    ]
  }).pipe(
    Layer.provideMerge(CircuitBreakerRegistry.layer({ policy: Policy.consecutive({ failureThreshold: 2 }) })),
    Layer.provideMerge(VirtualClock.layer)
  )
  return Effect.gen(function* () {
    yield* Effect.replicateEffect(ask, 5) // the service, untouched
    assert.strictEqual(yield* primary.calls, 2)
    yield* Effect.sleep("30 seconds") // virtual: no time passes
    assert.strictEqual((yield* ask).text, "back")
    assert.strictEqual(yield* primary.calls, 3)
  }).pipe(Effect.provide(Simulated))
})
