import * as Byo from "@switchgear/providers/Byo"
import type { Operation, Provider } from "@switchgear/providers/Provider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { type ClientError, invalid } from "./clientError.js"
import { type Exchange, header } from "./exchange.js"

/** What a caller brought along (ROUTING W7), for the router. */
export interface Brought {
  readonly apiKey?: Redacted.Redacted
  readonly via?: Provider
}

const keyHeader = "x-switchgear-provider-key"
const baseUrlHeader = "x-switchgear-provider-base-url"

/** Whether a call is the caller's own business: no fallback, nothing shared. */
export const isOwn = ({ request: { headers } }: Exchange): boolean =>
  headers[keyHeader] !== undefined || headers[baseUrlHeader] !== undefined

/** The caller's key and upstream. The key is `Redacted` from here on; the address is checked before anything is called. */
export const brought = (
  exchange: Exchange,
  operation: Operation,
  options: Byo.Options
): Effect.Effect<Brought, ClientError, Scope.Scope> => {
  const key = header(exchange, keyHeader)
  const baseUrl = header(exchange, baseUrlHeader)
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
    return Effect.fail(invalid(`${keyHeader} holds a character that no key has, or nothing.`, keyHeader))
  }
  const apiKey = key === undefined ? {} : { apiKey: Redacted.make(key) }
  if (baseUrl === undefined) return Effect.succeed(apiKey)
  const dialect = operation === "messages" ? "messages" : "chat.completions"
  return Byo.provider(options, { ...apiKey, baseUrl, dialect }).pipe(
    Effect.mapBoth({
      onSuccess: (via) => ({ ...apiKey, via }),
      onFailure: (refused): ClientError => ({
        ...invalid(`${baseUrlHeader}: ${refused.message}.`, baseUrlHeader),
        code: "base_url_refused"
      })
    })
  )
}
