/**
 * Policies as a Schema: decoded with every fault named, described as JSON Schema for editors, read from configuration.
 *
 * @since 0.1.0
 */
import * as Policy from "@switchgear/core/Policy"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { PolicyInput } from "./internal/policyInput.js"

const isPolicy = (u: unknown): u is Policy.Policy => Policy.decode(u)._tag === "Success"

const PolicyFromSelf: Schema.Schema<Policy.Policy> = Schema.declare(isPolicy, {
  identifier: "Policy",
  description: "a checked breaker policy"
})

const { $schema: _, ...jsonSchema } = JSONSchema.make(PolicyInput)

/**
 * Wraps `Policy.decode`: what decodes is a policy with its defaults filled in, what does not fails with all its faults,
 * each at its path. Encoding gives the policy back as plain JSON. `JSONSchema.make` describes what may be written.
 *
 * @since 0.1.0
 * @category schemas
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { PolicySchema } from "@switchgear/breaker/PolicySchema"
 * import * as Either from "effect/Either"
 * import * as ParseResult from "effect/ParseResult"
 * import * as Schema from "effect/Schema"
 *
 * const decode = Schema.decodeUnknownEither(PolicySchema)
 * const result = decode({ trip: { _tag: "Consecutive", failureThreshold: 0 }, cooldown: { base: -1 } })
 * const paths = Either.match(result, {
 *   onLeft: (error) => ParseResult.ArrayFormatter.formatErrorSync(error).map((issue) => issue.path.join(".")),
 *   onRight: () => []
 * })
 * assert.deepStrictEqual(paths, ["trip.failureThreshold", "cooldown.base"])
 * ```
 */
export const PolicySchema: Schema.Schema<Policy.Policy, unknown> = Schema.transformOrFail(
  Schema.Unknown.annotations({ jsonSchema }),
  PolicyFromSelf,
  {
    strict: true,
    decode: (input, _options, ast) => {
      const decoded = Policy.decode(input)
      if (decoded._tag === "Success") return ParseResult.succeed(decoded.policy)
      const issues = decoded.faults.map((fault) => {
        const issue = new ParseResult.Type(ast, input, fault.message)
        const [head, ...tail] = fault.path.split(".")
        return head === undefined || head === "" ? issue : new ParseResult.Pointer([head, ...tail], input, issue)
      })
      const [first, ...rest] = issues
      return ParseResult.fail(
        first === undefined ? new ParseResult.Type(ast, input) : new ParseResult.Composite(ast, input, [first, ...rest])
      )
    },
    encode: (policy) => ParseResult.succeed(policy)
  }
).annotations({ identifier: "BreakerPolicy" })

const isPreset = (name: string): name is keyof typeof Policy.presets => Object.hasOwn(Policy.presets, name)

const fromText = (text: string): Either.Either<Policy.Policy, string> => {
  if (isPreset(text)) return Either.right(Policy.presets[text])
  if (!text.startsWith("{")) {
    return Either.left(
      `no preset is called "${text}": use ${Object.keys(Policy.presets).join(", ")}, or a policy as JSON`
    )
  }
  return Either.try({ try: (): unknown => JSON.parse(text), catch: () => "is not JSON" }).pipe(
    Either.flatMap((input) => {
      const decoded = Policy.decode(input)
      return decoded._tag === "Success"
        ? Either.right(decoded.policy)
        : Either.left(decoded.faults.map(({ message, path }) => `${path || "it"} ${message}`).join("; "))
    })
  )
}

/**
 * A policy from configuration: a preset's name, or a policy as JSON. An error names every fault.
 *
 * @since 0.1.0
 * @category config
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as PolicySchema from "@switchgear/breaker/PolicySchema"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as ConfigProvider from "effect/ConfigProvider"
 * import * as Effect from "effect/Effect"
 *
 * const policy = Effect.withConfigProvider(
 *   PolicySchema.config("BREAKER_POLICY"),
 *   ConfigProvider.fromMap(new Map([["BREAKER_POLICY", "hosted"]]))
 * )
 * assert.strictEqual(Effect.runSync(policy), Policy.hosted)
 * ```
 */
export const config = (name: string): Config.Config<Policy.Policy> =>
  Config.mapOrFail(Config.string(name), (text) =>
    Either.mapLeft(fromText(text.trim()), (message) => ConfigError.InvalidData([], message))
  )
