import * as AiError from "@effect/ai/AiError"
import { type CircuitOpen, findOpen, isCircuitOpen } from "@switchgear/breaker/CircuitOpen"
import type { Failure } from "@switchgear/failures/Failure"
import type { ProviderKind } from "@switchgear/failures/ProviderKind"
import * as Thrown from "@switchgear/failures/Thrown"
import * as Cause from "effect/Cause"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { ModelFailure } from "../ModelFailure.js"
import { keptHeaders, requestDetails } from "./details.js"
import { maskLocal, maskText } from "./mask.js"
import { isHarmlessHeader, isSecretName, read, secretsOf } from "./secrets.js"

export interface Options {
  readonly secrets: ReadonlyArray<string>
  readonly provider?: ProviderKind | undefined
  /** Wall time in ms. */
  readonly now?: number | undefined
}

/** Errors that went through here: once is enough, and a second time would only lose words. */
const done = new WeakSet<object>()

/** A failure of ours, with what may be shown of the original. */
export const failureError = (failure: Failure, original: unknown, secrets: ReadonlyArray<string>): ModelFailure =>
  new ModelFailure({
    ...failure,
    message: maskText(failure.message, secrets),
    ...(original instanceof Error ? { cause: showError(original, secrets) } : {})
  })

const described = (text: string | undefined, secrets: ReadonlyArray<string>): { readonly description?: string } =>
  text === undefined ? {} : { description: maskLocal(text, secrets) }

/**
 * An answer that came, and was not what the caller's schema or tools asked for: the provider is well, and the caller's own
 * wish is half of the reason.
 */
export const isContent = (error: AiError.AiError): boolean =>
  error._tag === "MalformedOutput" &&
  (error.module === "Toolkit" || (error.module === "LanguageModel" && error.method === "generateObject"))

/** What an error means; `now` is wall time in ms. */
export const meaning = (error: unknown, options: Options): Failure => {
  const failure = Thrown.classify(error, {
    now: options.now ?? Number.POSITIVE_INFINITY,
    secrets: options.secrets,
    ...(options.provider === undefined ? {} : { provider: options.provider })
  })
  return AiError.isAiError(error) && isContent(error) && failure.kind === "server_error"
    ? { kind: "client_fault", scope: "none", message: "The answer was not what the schema or the tools asked for" }
    : failure
}

const causeOf = (
  error: Exclude<AiError.AiError, AiError.HttpResponseError>,
  options: Options
): CircuitOpen | ModelFailure => {
  const { cause } = error
  if (cause instanceof ModelFailure) return cause
  return findOpen(cause) ?? failureError(meaning(error, options), cause, options.secrets)
}

/** The same error of the same class without headers, addresses and keys. Its meaning stays (`ModelFailure`). */
export const redactError = (error: AiError.AiError, given: Options): AiError.AiError => {
  if (done.has(error)) return error
  const secrets = secretsOf(error, given.secrets)
  const redacted = rebuild(error, { ...given, secrets })
  done.add(redacted)
  return redacted
}

const raw = { disableValidation: true }

const rebuild = (error: AiError.AiError, options: Options): AiError.AiError => {
  const { secrets } = options
  const { method, module } = error
  const base = { module, method, ...described(error.description, secrets) }
  switch (error._tag) {
    case "HttpRequestError":
      return new AiError.HttpRequestError(
        {
          ...base,
          reason: error.reason,
          request: requestDetails(error.request, secrets),
          cause: causeOf(error, options)
        },
        raw
      )
    case "HttpResponseError":
      return new AiError.HttpResponseError(
        {
          ...base,
          reason: error.reason,
          request: requestDetails(error.request, secrets),
          response: { status: error.response.status, headers: keptHeaders(error.response.headers, secrets) },
          ...(error.body === undefined ? {} : { body: maskText(error.body, secrets) })
        },
        raw
      )
    case "MalformedInput":
      return new AiError.MalformedInput({ ...base, cause: causeOf(error, options) }, raw)
    case "MalformedOutput":
      return new AiError.MalformedOutput({ ...base, cause: causeOf(error, options) }, raw)
    case "UnknownError":
      return new AiError.UnknownError({ ...base, cause: causeOf(error, options) }, raw)
  }
}

/** How deep a value is copied. */
const deepest = 12

/** What is fit to be shown of an error: its name, words, code and causes, and nothing else it held. */
export const showError = (error: Error, secrets: ReadonlyArray<string>, depth = 0): Error => {
  const shown = new Error(maskLocal(textOf(error, "message"), secrets))
  shown.name = textOf(error, "name") || "Error"
  shown.stack = maskLocal(textOf(error, "stack"), secrets)
  const code = read(error, "code")
  if (typeof code === "string" || typeof code === "number") Object.assign(shown, { code })
  const cause = read(error, "cause")
  if (cause !== undefined && depth < deepest) shown.cause = redactUnknown(cause, secrets, depth + 1)
  return shown
}

const textOf = (error: Error, key: string): string => {
  const text = read(error, key)
  return typeof text === "string" ? text : ""
}

/** Headers may come as any object, under any name. */
const maskEntry = (key: string, value: unknown, secrets: ReadonlyArray<string>, depth: number): unknown => {
  if (isSecretName(key) && Predicate.isString(value)) return "[masked]"
  if (key !== "headers" || !Predicate.isRecord(value)) return redactUnknown(value, secrets, depth)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => isHarmlessHeader(name))
      .map(([name, text]) => [name, redactUnknown(text, secrets, depth)])
  )
}

/** Any value that leaves, as in a log: texts masked, errors shown, requests without headers. A ring is cut by its depth. */
export const redactUnknown = (u: unknown, given: ReadonlyArray<string>, depth = 0): unknown => {
  if (typeof u === "string") return maskText(u, given)
  if (!Predicate.isObject(u) || typeof u === "function") return u
  if (isCircuitOpen(u) || u instanceof ModelFailure || Redacted.isRedacted(u) || u instanceof Date) return u
  if (ArrayBuffer.isView(u)) return u
  const secrets = depth === 0 ? secretsOf(u, given) : given
  if (AiError.isAiError(u)) return redactError(u, { secrets })
  if (Cause.isCause(u)) return showCause(u, { secrets })
  if (u instanceof Error) return showError(u, secrets, depth)
  if (depth >= deepest) return "[…]"
  if (Array.isArray(u)) return u.map((one) => redactUnknown(one, secrets, depth + 1))
  const json = read(u, "toJSON")
  if (typeof json === "function")
    return redactUnknown(
      attempt(() => json.call(u)),
      secrets,
      depth + 1
    )
  return Object.fromEntries(Object.keys(u).map((key) => [key, maskEntry(key, read(u, key), secrets, depth + 1)]))
}

const attempt = (f: () => unknown): unknown => {
  try {
    return f()
  } catch {
    return undefined
  }
}

/** A cause whose `AiError`s and defects hold no secret. Errors of other kinds are the caller's own, and stay what they are. */
export const redactCause = <E>(cause: Cause.Cause<E>, given: Options): Cause.Cause<E> => {
  const options = { ...given, secrets: secretsOf(Cause.squash(cause), given.secrets) }
  return mapCause(cause, options, (error) =>
    AiError.isAiError(error) ? sameType(error, redactError(error, options)) : error
  )
}

/** A cause as it may be written down: there nobody needs an error of any kind to be what it was. */
export const showCause = (cause: Cause.Cause<unknown>, given: Options): Cause.Cause<unknown> => {
  const options = { ...given, secrets: secretsOf(Cause.squash(cause), given.secrets) }
  return mapCause(cause, options, (error) => redactUnknown(error, options.secrets))
}

const mapCause = <E>(cause: Cause.Cause<E>, { secrets }: Options, onFail: (error: E) => E): Cause.Cause<E> =>
  Cause.match<Cause.Cause<E>, E>(cause, {
    onEmpty: Cause.empty,
    onFail: (error) => Cause.fail(onFail(error)),
    onDie: (defect) => Cause.die(redactUnknown(defect, secrets)),
    onInterrupt: (fiber) => Cause.interrupt(fiber),
    onSequential: (left, right) => Cause.sequential(left, right),
    onParallel: (left, right) => Cause.parallel(left, right)
  })

/** A redacted error is of the class it was, which the compiler cannot see in a type parameter. */
const sameType = <E>(_: E, error: AiError.AiError): E => error as E
