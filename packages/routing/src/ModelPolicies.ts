/**
 * Which organisation may use which models, and where its calls may fall back to (ROUTING F2, F5); and whose client key
 * is whose.
 *
 * @since 0.1.0
 */
import type { Fault } from "@switchgear/core/Fallback"
import * as Fallback from "@switchgear/core/Fallback"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as glob from "./internal/glob.js"
import type { StoreError } from "./StoreError.js"

/**
 * One rule. In `org` and `model`, `*` stands for any characters and `?` for one.
 *
 * @since 0.1.0
 * @category models
 */
export interface Rule {
  readonly org: string
  readonly model: string
  /** Default true. */
  readonly allow?: boolean | undefined
  /** At most 8 models, in the order to be tried. Default: none. */
  readonly fallbackChain?: ReadonlyArray<string> | undefined
}

/**
 * A client key, by its hash: `Access.hashKey`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Client {
  /** `sha256:` and 64 hexadecimal digits. */
  readonly keyHash: string
  readonly org: string
}

/**
 * What the first matching rule says. Where none matches: denied.
 *
 * @since 0.1.0
 * @category models
 */
export type Decision = { readonly _tag: "Allowed"; readonly chain: ReadonlyArray<string> } | { readonly _tag: "Denied" }

/**
 * Rules that are none, with every fault, its path and the fix.
 *
 * @since 0.1.0
 * @category errors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { InvalidRules } from "@switchgear/routing/ModelPolicies"
 *
 * const error = new InvalidRules({ faults: [{ path: "0.model", message: "must not be empty" }] })
 * assert.strictEqual(error.message, "0.model: must not be empty")
 * ```
 */
export class InvalidRules extends Data.TaggedError("InvalidRules")<{ readonly faults: ReadonlyArray<Fault> }> {
  override get message(): string {
    return this.faults.map(({ message, path }) => `${path}: ${message}`).join("\n")
  }
}

/**
 * The port. Every method answers within a bounded time, or fails with `StoreError`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly decide: (org: string, model: string) => Effect.Effect<Decision, StoreError>
  /** All rules, in order. */
  readonly rules: Effect.Effect<ReadonlyArray<Rule>, StoreError>
  /** Puts these rules in place of all there are. */
  readonly setRules: (rules: ReadonlyArray<Rule>) => Effect.Effect<void, StoreError | InvalidRules>
  readonly client: (keyHash: string) => Effect.Effect<Option.Option<Client>, StoreError>
  readonly clients: Effect.Effect<ReadonlyArray<Client>, StoreError>
  readonly putClient: (client: Client) => Effect.Effect<void, StoreError>
  /** Revokes a key: from now on nothing is served for it. */
  readonly removeClient: (keyHash: string) => Effect.Effect<void, StoreError>
}

/**
 * The policies in force.
 *
 * @since 0.1.0
 * @category tags
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const policies = yield* ModelPolicies.ModelPolicies
 *   return (yield* policies.decide("acme", "gpt-4o"))._tag
 * })
 * const Policies = ModelPolicies.layerMemory({ rules: [{ org: "acme", model: "gpt-*" }] })
 * assert.strictEqual(Effect.runSync(Effect.provide(program, Policies)), "Allowed")
 * ```
 */
export class ModelPolicies extends Context.Tag("@switchgear/routing/ModelPolicies")<ModelPolicies, Service>() {}

/**
 * What is wrong with rules: blank patterns, and chains of more than 8, each with its path. A backend checks with it what
 * it is to store.
 *
 * @since 0.1.0
 * @category rules
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
 *
 * const nine = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
 * const [fault] = ModelPolicies.check([{ org: "*", model: "*", fallbackChain: nine }])
 * assert.strictEqual(fault?.path, "0.fallbackChain")
 * ```
 */
export const check = (rules: ReadonlyArray<Rule>): ReadonlyArray<Fault> =>
  rules.flatMap(({ fallbackChain, model, org }, index): ReadonlyArray<Fault> => {
    const faults: Array<Fault> = []
    if (org.trim() === "") faults.push({ path: `${index}.org`, message: `must not be empty: use "*" for all` })
    if (model.trim() === "") faults.push({ path: `${index}.model`, message: `must not be empty: use "*" for all` })
    const decoded = Fallback.decodeChain(fallbackChain ?? [])
    if (decoded._tag === "Success") return faults
    const path = `${index}.fallbackChain`
    for (const fault of decoded.faults) {
      faults.push({ path: fault.path === "" ? path : `${path}.${fault.path}`, message: fault.message })
    }
    return faults
  })

const denied: Decision = { _tag: "Denied" }

/**
 * Rules as one function: the first that matches both decides (ROUTING F2).
 *
 * @since 0.1.0
 * @category rules
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
 *
 * const decide = ModelPolicies.compile([
 *   { org: "acme", model: "gpt-4*", fallbackChain: ["llama"] },
 *   { org: "*", model: "*", allow: false }
 * ])
 * assert.deepStrictEqual(decide("acme", "gpt-4o"), { _tag: "Allowed", chain: ["llama"] })
 * assert.deepStrictEqual(decide("other", "gpt-4o"), { _tag: "Denied" })
 * ```
 */
export const compile = (rules: ReadonlyArray<Rule>): ((org: string, model: string) => Decision) => {
  const compiled = rules.map(({ allow = true, fallbackChain, model, org }) => {
    const chain = Fallback.decodeChain(fallbackChain ?? [])
    const decision: Decision = allow ? { _tag: "Allowed", chain: chain._tag === "Success" ? chain.value : [] } : denied
    return { org: glob.compile(org), model: glob.compile(model), decision }
  })
  return (org, model) => compiled.find((rule) => rule.org(org) && rule.model(model))?.decision ?? denied
}

/**
 * Policies in memory.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const policies = yield* ModelPolicies.makeMemory()
 *   yield* policies.setRules([{ org: "*", model: "llama" }])
 *   return yield* policies.rules
 * })
 * assert.deepStrictEqual(Effect.runSync(program), [{ org: "*", model: "llama" }])
 * ```
 */
export const makeMemory = (options?: {
  readonly rules?: ReadonlyArray<Rule> | undefined
  readonly clients?: ReadonlyArray<Client> | undefined
}): Effect.Effect<Service, InvalidRules> =>
  Effect.suspend(() => {
    let rules = options?.rules ?? []
    const faults = check(rules)
    if (faults.length > 0) return Effect.fail(new InvalidRules({ faults }))
    let decide = compile(rules)
    const clients = new Map((options?.clients ?? []).map((client) => [client.keyHash, client]))
    const service: Service = {
      decide: (org, model) => Effect.sync(() => decide(org, model)),
      rules: Effect.sync(() => rules),
      setRules: (next) =>
        Effect.suspend(() => {
          const faults = check(next)
          if (faults.length > 0) return Effect.fail(new InvalidRules({ faults }))
          rules = [...next]
          decide = compile(rules)
          return Effect.void
        }),
      client: (keyHash) => Effect.sync(() => Option.fromNullable(clients.get(keyHash))),
      clients: Effect.sync(() => [...clients.values()]),
      putClient: (client) => Effect.sync(() => void clients.set(client.keyHash, client)),
      removeClient: (keyHash) => Effect.sync(() => void clients.delete(keyHash))
    }
    return Effect.succeed(service)
  })

/**
 * {@link makeMemory} as a layer.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
 * import * as Effect from "effect/Effect"
 *
 * const rules = Effect.flatMap(ModelPolicies.ModelPolicies, (policies) => policies.rules)
 * assert.deepStrictEqual(Effect.runSync(Effect.provide(rules, ModelPolicies.layerMemory())), [])
 * ```
 */
export const layerMemory = (options?: {
  readonly rules?: ReadonlyArray<Rule> | undefined
  readonly clients?: ReadonlyArray<Client> | undefined
}): Layer.Layer<ModelPolicies, InvalidRules> => Layer.effect(ModelPolicies, makeMemory(options))
