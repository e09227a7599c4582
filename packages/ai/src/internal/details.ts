import type * as AiError from "@effect/ai/AiError"
import * as Option from "effect/Option"
import { maskText, maskUrl } from "./mask.js"
import { isHarmlessHeader, isSecretName } from "./secrets.js"

/** Answer headers that say when to try again, what the answer is and whom to ask about it. */
const keeps = (name: string): boolean =>
  isHarmlessHeader(name) ||
  /^(?:retry-after(?:-ms)?|x-should-retry|date|(?:x-|anthropic-)?ratelimit-[a-z-]+|(?:x-)?request-id|cf-ray)$/i.test(
    name
  )

export const keptHeaders = (headers: unknown, secrets: ReadonlyArray<string>): { readonly [name: string]: string } => {
  const kept: Record<string, string> = {}
  if (typeof headers !== "object" || headers === null) return kept
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string" && keeps(name)) kept[name] = maskText(value, secrets)
  }
  return kept
}

/** A request without headers, and with nothing of its URL but the path. */
export const requestDetails = (
  request: typeof AiError.HttpRequestDetails.Type,
  secrets: ReadonlyArray<string>
): typeof AiError.HttpRequestDetails.Type => ({
  method: request.method,
  url: maskUrl(request.url, secrets),
  urlParams: request.urlParams.map(([name, value]) => [
    name,
    isSecretName(name) ? "[masked]" : maskText(String(value), secrets)
  ]),
  hash: Option.none(),
  headers: {}
})
