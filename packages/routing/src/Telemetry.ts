/**
 * One row a call, whatever happens; and a span of it, if anybody looks (ROUTING T1 to T3).
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { RuntimeFiber } from "effect/Fiber"
import type * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"
import type { Call, Served } from "./Call.js"
import { type CallError, kindOf, statusOf } from "./CallError.js"
import * as callMetrics from "./internal/callMetrics.js"
import * as callSpan from "./internal/callSpan.js"
import { type Over, rowOf } from "./internal/row.js"
import { RowWriter } from "./internal/rowWriter.js"
import { clockOf, monotonicMillis } from "./internal/time.js"
import { watch } from "./internal/watch.js"
import type { Ending } from "./internal/watchedBody.js"
import { type Handler, make as makeStage, priorities, type Stage } from "./Stage.js"
import type * as TelemetryStore from "./TelemetryStore.js"

/**
 * How telemetry is made.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly store: TelemetryStore.Service
  /** How long a row waits for others at most. Default 1 s. */
  readonly interval?: Duration.DurationInput | undefined
  /** Rows of one write. Default 500. */
  readonly batchSize?: number | undefined
  /** Rows that wait for the store at most; over it the oldest go. Default 10 000. */
  readonly capacity?: number | undefined
  /** How long rows are kept: what is older is purged, now and every hour. Default: for ever, as far as this goes. */
  readonly retention?: Duration.DurationInput | undefined
}

/**
 * Telemetry: its stage, and what there is to know of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly stage: Stage
  /** Rows that went because the store did not keep up. */
  readonly dropped: Effect.Effect<number>
  /** Writes what waits, now. */
  readonly flush: Effect.Effect<void>
}

const whole = { batchSize: 500, capacity: 10_000 }

/** An answer and what is to be told of it when it is over. */
class Observed {
  private acceptedAt: number | undefined = undefined

  constructor(
    private readonly call: Call,
    private readonly id: string,
    private readonly at: number,
    private readonly span: Tracer.Span | undefined,
    private readonly writer: RowWriter
  ) {}

  served(served: Served): Served {
    this.acceptedAt = monotonicMillis(this.call.clock)
    const { answer } = served
    if (answer._tag === "Json") {
      this.record(served, "success", answer.status, this.acceptedAt)
      return served
    }
    const ended = (ending: Ending) =>
      this.record(served, outcomeOf(ending), answer.status, monotonicMillis(this.call.clock))
    return { ...served, answer: watch(answer, { ended }) }
  }

  failed(cause: Cause.Cause<CallError>): void {
    const failure = Cause.isInterrupted(cause) ? undefined : Cause.failureOption(cause)
    const [outcome, status] =
      failure === undefined
        ? ["cancelled", 499]
        : failure._tag === "None"
          ? ["defect", 500]
          : [kindOf(failure.value), statusOf(failure.value)]
    this.record(undefined, outcome, status, monotonicMillis(this.call.clock))
  }

  private record(served: Served | undefined, outcome: string, status: number, endedAt: number): void {
    const over: Over = { served, outcome, status, endedAt, acceptedAt: this.acceptedAt }
    const row = rowOf(this.id, this.at, this.call, over)
    this.writer.put(row)
    if (this.span !== undefined) callSpan.end(this.span, this.call, row)
  }
}

const outcomeOf = (ending: Ending): string => {
  switch (ending._tag) {
    case "Complete":
      return "success"
    case "Left":
      return "cancelled"
    case "Unknown":
      return "unknown"
    case "Failed":
      return ending.error.failure.kind
  }
}

/**
 * Telemetry over a store. Rows are written in batches by a fiber of the scope, which writes what is left when the scope
 * closes. A call that access refused has a row too.
 *
 * Spans follow OpenTelemetry's GenAI conventions, with `switchgear.*` beside them; without a tracer there are none, and
 * they cost nothing.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Pipeline from "@switchgear/routing/Pipeline"
 * import * as Telemetry from "@switchgear/routing/Telemetry"
 * import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* TelemetryStore.makeMemory()
 *   const telemetry = yield* Telemetry.make({ store })
 *   const pipeline = yield* Pipeline.make({
 *     providers: [{ provider: ScriptedProvider.make("local", [ScriptedProvider.ok()]) }],
 *     models: [{ name: "llama", provider: "local" }],
 *     stages: [telemetry.stage, Pipeline.fallback()]
 *   })
 *   const body = new TextEncoder().encode(`{"model":"llama","messages":[]}`)
 *   yield* pipeline.run({ model: "llama", operation: "chat.completions", body, stream: false, headers: {} })
 *   yield* telemetry.flush
 *   return yield* store.recent(1)
 * })
 * const [row] = await Effect.runPromise(Effect.scoped(program))
 * assert.deepStrictEqual([row?.outcome, row?.servedProvider], ["success", "local"])
 * ```
 */
export const make = (options: Options): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { batchSize, capacity } = { ...whole, ...defined(options) }
    const interval = Duration.toMillis(options.interval ?? "1 second")
    const writer = new RowWriter({ store: options.store, interval, batchSize, capacity })
    yield* writer.run
    if (options.retention !== undefined) {
      const purge = Effect.ignore(options.store.purge(Duration.toMillis(options.retention)))
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(purge, Effect.sleep("1 hour"))))
    }
    const run = (yield* Random.nextIntBetween(0, 2 ** 52)).toString(36)
    let calls = 0
    const wrap =
      (next: Handler): Handler =>
      (call) =>
        Effect.withFiberRuntime((fiber: RuntimeFiber<Served, CallError>) => {
          const at = clockOf(fiber).unsafeCurrentTimeMillis()
          const span = callSpan.traced(fiber) ? callSpan.begin(fiber, call) : undefined
          const one = new Observed(call, call.request.id ?? `${run}-${++calls}`, at, span, writer)
          const inner = span === undefined ? next(call) : Effect.withParentSpan(next(call), span)
          return Effect.uninterruptibleMask((restore) =>
            Effect.matchCauseEffect(restore(inner), {
              onSuccess: (served) => Effect.succeed(one.served(served)),
              onFailure: (cause) => {
                one.failed(cause)
                return Effect.failCause(cause)
              }
            })
          )
        })
    return {
      stage: makeStage("telemetry", priorities.telemetry, wrap, { audits: true }),
      dropped: Effect.sync(() => writer.dropped),
      flush: writer.flush
    }
  })

const defined = ({ batchSize, capacity }: Options) => ({
  ...(batchSize === undefined ? undefined : { batchSize }),
  ...(capacity === undefined ? undefined : { capacity })
})

/**
 * Effect's metrics of calls. They are brought up to date with every batch of rows: `switchgear_calls` (label `outcome`),
 * `switchgear_fallbacks` (`reason`), `switchgear_tokens` (`direction`: in, out), `switchgear_cost_usd`,
 * `switchgear_call_duration_ms`, `switchgear_notes` (`note`, such as `idempotency_unavailable`) and
 * `switchgear_telemetry_dropped`.
 *
 * @since 0.1.0
 * @category metrics
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Telemetry from "@switchgear/routing/Telemetry"
 * import * as Effect from "effect/Effect"
 * import * as Metric from "effect/Metric"
 *
 * const succeeded = Metric.tagged(Telemetry.metrics.calls, "outcome", "success")
 * assert.strictEqual(typeof Effect.runSync(Metric.value(succeeded)).count, "number")
 * ```
 */
export const metrics: {
  readonly calls: Metric.Metric.Counter<number>
  readonly fallbacks: Metric.Metric.Counter<number>
  readonly tokens: Metric.Metric.Counter<number>
  readonly cost: Metric.Metric.Counter<number>
  readonly notes: Metric.Metric.Counter<number>
  readonly dropped: Metric.Metric.Counter<number>
  readonly duration: typeof callMetrics.duration
} = {
  calls: callMetrics.calls,
  fallbacks: callMetrics.fallbacks,
  tokens: callMetrics.tokens,
  cost: callMetrics.cost,
  notes: callMetrics.notes,
  dropped: callMetrics.dropped,
  duration: callMetrics.duration
}
