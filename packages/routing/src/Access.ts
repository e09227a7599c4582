/**
 * Who calls, and may they use the model: asked before every stage, so that a revoked key or a denied model is never
 * served from a replay or a cache (ROUTING S0).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Granted, Request } from "./Call.js"
import { sameDigest, sha256 } from "./internal/sha256.js"
import type * as ModelPolicies from "./ModelPolicies.js"
import { Rejected } from "./Rejected.js"
import { RouteError } from "./RouteError.js"

/**
 * Grants a call, or refuses it.
 *
 * @since 0.1.0
 * @category models
 */
export type Access = (request: Request) => Effect.Effect<Granted, RouteError | Rejected>

/**
 * Every model is everybody's, with its own chain; a call is of the organisation it says, else of `default`.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Access from "@switchgear/routing/Access"
 * import * as Effect from "effect/Effect"
 *
 * const request = { model: "m", operation: "chat.completions", body: new Uint8Array(), stream: false, headers: {} } as const
 * assert.deepStrictEqual(Effect.runSync(Access.open(request)), { org: "default" })
 * ```
 */
export const open: Access = ({ org = "default" }) => Effect.succeed({ org })

/**
 * The hash a client key is stored and looked up by: `sha256:` and 64 hexadecimal digits.
 *
 * @since 0.1.0
 * @category keys
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Access from "@switchgear/routing/Access"
 * import * as Redacted from "effect/Redacted"
 *
 * assert.match(Access.hashKey(Redacted.make("sg-secret")), /^sha256:[0-9a-f]{64}$/)
 * ```
 */
export const hashKey = (key: Redacted.Redacted): string => `sha256:${sha256(Redacted.value(key))}`

/**
 * How policies are asked.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /**
   * `required`: a call needs a client key that is known, which says its organisation. `none` (default): a call is of the
   * organisation it says; a key it has must be known all the same.
   */
  readonly clients?: "none" | "required" | undefined
  /** `clients`: only keys are looked up, all models are allowed and chains are the models' own. Default `all`. */
  readonly rules?: "all" | "clients" | undefined
}

const invalidKey = new Rejected({
  stage: "access",
  status: 401,
  code: "invalid_client_key",
  message: "The API key is missing or not valid."
})

const unavailable = new Rejected({
  stage: "access",
  status: 503,
  code: "policy_unavailable",
  message: "Whether this call is allowed cannot be said now; try again."
})

/**
 * Organisations, models and chains by policy. A store that is down fails closed (ROUTING F5): 503 for the call, and
 * none of its hops is called.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Access from "@switchgear/routing/Access"
 * import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
 * import * as Effect from "effect/Effect"
 *
 * const request = {
 *   model: "gpt-4o",
 *   org: "acme",
 *   operation: "chat.completions",
 *   body: new Uint8Array(),
 *   stream: false,
 *   headers: {}
 * } as const
 * const program = Effect.gen(function*() {
 *   const policies = yield* ModelPolicies.makeMemory({ rules: [{ org: "*", model: "llama" }] })
 *   return yield* Effect.flip(Access.policies(policies)(request))
 * })
 * assert.strictEqual(Effect.runSync(program).message, `model "gpt-4o" is not allowed`)
 * ```
 */
export const policies = (service: ModelPolicies.Service, options?: Options): Access => {
  const required = options?.clients === "required"
  const orgOf = ({ clientKey }: Request): Effect.Effect<string, Rejected> => {
    if (clientKey === undefined) return Effect.fail(invalidKey)
    const hash = hashKey(clientKey)
    return Effect.matchEffect(service.client(hash), {
      onFailure: () => Effect.fail(unavailable),
      // A store finds by the digest, of which its time tells at most a beginning, and that leads back to no key; whether
      // it is the one is decided here.
      onSuccess: (client) =>
        Option.isSome(client) && sameDigest(client.value.keyHash, hash)
          ? Effect.succeed(client.value.org)
          : Effect.fail(invalidKey)
    })
  }
  const grant = (org: string, { model }: Request): Effect.Effect<Granted, RouteError> => {
    if (options?.rules === "clients") return Effect.succeed({ org })
    return Effect.matchEffect(service.decide(org, model), {
      onFailure: () => Effect.fail(new RouteError({ model, reason: { _tag: "PolicyUnavailable" }, attempts: [] })),
      onSuccess: (decision) =>
        decision._tag === "Denied"
          ? Effect.fail(new RouteError({ model, reason: { _tag: "NotAllowed" }, attempts: [] }))
          : Effect.succeed({
              org,
              chain: decision.chain,
              allow: (hop: string) => Effect.map(service.decide(org, hop), ({ _tag }) => _tag === "Allowed")
            })
    })
  }
  return (request) =>
    request.clientKey === undefined && !required
      ? grant(request.org ?? "default", request)
      : Effect.flatMap(orgOf(request), (org) => grant(org, request))
}
