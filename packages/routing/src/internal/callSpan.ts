import * as Context from "effect/Context"
import { liveServices } from "effect/DefaultServices"
import * as Exit from "effect/Exit"
import type { RuntimeFiber } from "effect/Fiber"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import type { Call } from "../Call.js"
import type { Row } from "../TelemetryStore.js"

const native = Context.get(liveServices, Tracer.Tracer)

/** Whether anybody looks at spans: a span costs more than all stages together, and the native tracer keeps none. */
export const traced = (fiber: RuntimeFiber<unknown, unknown>): boolean => fiber.currentTracer !== native

const operations: Readonly<Record<string, string>> = {
  "chat.completions": "chat",
  responses: "chat",
  messages: "chat",
  embeddings: "embeddings"
}

/** ROUTING T3: a client span as OpenTelemetry's GenAI conventions name it. */
export const begin = (fiber: RuntimeFiber<unknown, unknown>, { clock, org, request }: Call): Tracer.Span => {
  const operation = operations[request.operation] ?? request.operation
  const parent = Option.fromNullable(fiber.currentSpan)
  const now = clock.unsafeCurrentTimeNanos()
  const name = `${operation} ${request.model}`
  const span = fiber.currentTracer.span(name, parent, Context.empty(), [], now, "client")
  span.attribute("gen_ai.operation.name", operation)
  span.attribute("gen_ai.request.model", request.model)
  span.attribute("switchgear.org", org)
  span.attribute("switchgear.stream", request.stream)
  return span
}

const failed = Exit.fail("the call failed")

export const end = (span: Tracer.Span, { clock }: Call, row: Row): void => {
  const now = clock.unsafeCurrentTimeNanos()
  const set = (key: string, value: unknown) => {
    if (value !== null && value !== "") span.attribute(key, value)
  }
  set("gen_ai.provider.name", row.servedProvider ?? row.attempts[0]?.provider ?? null)
  set("gen_ai.response.model", row.servedModel)
  set("gen_ai.usage.input_tokens", row.tokensIn)
  set("gen_ai.usage.output_tokens", row.tokensOut)
  set("http.response.status_code", row.status)
  set("switchgear.served.model", row.servedModel)
  set("switchgear.attempts", row.attempts.length)
  set("switchgear.fallback.reason", row.fallbackReason)
  if (row.replayed) set("switchgear.replayed", true)
  if (row.cached) set("switchgear.cached", true)
  if (row.byo) set("switchgear.byo", true)
  for (const [index, { kind, latency, model, provider, state }] of row.attempts.entries()) {
    span.event("switchgear.attempt", now, {
      "switchgear.attempt.index": index,
      "switchgear.attempt.model": model,
      "switchgear.attempt.provider": provider,
      "switchgear.failure.kind": kind === "served" ? "" : kind,
      "switchgear.breaker.state": state ?? "",
      "switchgear.attempt.latency_ms": latency ?? 0
    })
  }
  if (row.outcome === "success") {
    span.end(now, Exit.void)
    return
  }
  set("error.type", row.outcome)
  span.end(now, failed)
}
