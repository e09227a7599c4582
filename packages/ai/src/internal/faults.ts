import * as AiError from "@effect/ai/AiError"
import { type CircuitOpen, isCircuitOpen } from "@switchgear/breaker/CircuitOpen"
import * as Failure from "@switchgear/failures/Failure"
import { failureError, meaning, type Options } from "./redact.js"

/** A refusal, in the one type of error a model may have (DESIGN 13). */
export const refused = (open: CircuitOpen, method: string): AiError.AiError =>
  new AiError.UnknownError({ module: "CircuitBreaker", method, description: open.message, cause: open })

/** What a guard adds to a model's errors, as one of them. */
export const openTo =
  (method: string) =>
  <E>(error: E | CircuitOpen): E | AiError.AiError =>
    isCircuitOpen(error) ? refused(error, method) : error

const failed = (
  failure: Failure.Failure,
  method: string,
  original?: unknown,
  secrets: ReadonlyArray<string> = []
): AiError.AiError =>
  new AiError.UnknownError({
    module: "LanguageModel",
    method,
    description: failure.message,
    cause: failureError(failure, original, secrets)
  })

/** A limit of ours that ran out. */
export const timedOut = (limit: string, millis: number, method: string): AiError.AiError =>
  failed(Failure.make("timeout", `${limit} timed out after ${millis} ms`), method)

/** An answer that ended well and held nothing, as when a client takes a failed response for a finished one. */
export const empty = (method: string): AiError.AiError =>
  failed(Failure.make("server_error", "The answer was empty"), method)

export const finishedInError = (method: string): AiError.AiError =>
  failed(Failure.make("server_error", "The answer finished in an error"), method)

/** A stream is complete with its `finish` part, and not before. */
export const cut = (method: string): AiError.AiError =>
  failed(Failure.make("server_error", "The stream ended before its finish"), method)

/** What an `error` part said: the clients pass on the frame, or the error in it. */
export const told = (error: unknown, method: string, options: Options): AiError.AiError => {
  const isFrame = typeof error === "object" && error !== null && !(error instanceof Error) && !("error" in error)
  const failure = meaning(isFrame ? { error } : error, options)
  return failed(failure, method, error, options.secrets)
}

/** ROUTING F6, `surface: "exhausted"`: the errors of all attempts, in order. */
export const exhausted = (errors: ReadonlyArray<unknown>, method: string): AiError.AiError =>
  new AiError.UnknownError({
    module: "FallbackLanguageModel",
    method,
    description: `All ${errors.length} targets failed`,
    cause: new AggregateError(errors, "All targets failed")
  })
