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
 * Somebody else has edited what was to be edited: read it again, and decide anew.
 *
 * @since 0.1.0
 * @category errors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { RevisionConflict } from "@switchgear/routing/ModelPolicies"
 *
 * const error = new RevisionConflict({ expected: 3, actual: 4 })
 * assert.strictEqual(error.message, "policies are at revision 4, not 3: read them again")
 * ```
 */
export class RevisionConflict extends Data.TaggedError("RevisionConflict")<{
  readonly expected: number
  readonly actual: number
}> {
  override get message(): string {
    return `policies are at revision ${this.actual}, not ${this.expected}: read them again`
  }
}

/**
 * Rules and the revision they are of.
 *
 * @since 0.1.0
 * @category models
 */
export interface Revised {
  readonly revision: number
  /** In order. */
  readonly rules: ReadonlyArray<Rule>
}

/**
 * The port. Every method answers within a bounded time, or fails with `StoreError`.
 *
 * `decide` and `client` are asked by every call: a backend answers them from memory, and follows its database by polling
 * the revision. An edit is in force here when its method returns, and on every other replica within the backend's
 * `pollInterval`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly decide: (org: string, model: string) => Effect.Effect<Decision, StoreError>
  /** All rules, as they are stored now. */
  readonly rules: Effect.Effect<ReadonlyArray<Rule>, StoreError>
  /** As `rules`, with their revision. It goes up with each edit, of rules or clients; 0: nobody has ever edited. */
  readonly revised: Effect.Effect<Revised, StoreError>
  /**
   * Puts these rules in place of all there are; their new revision. With `revision`: only if the stored ones are of it,
   * so that of two who edit at the same time none undoes the other unseen.
   */
  readonly setRules: (
    rules: ReadonlyArray<Rule>,
    options?: { readonly revision?: number | undefined }
  ) => Effect.Effect<number, StoreError | InvalidRules | RevisionConflict>
  readonly client: (keyHash: string) => Effect.Effect<Option.Option<Client>, StoreError>
  readonly clients: Effect.Effect<ReadonlyArray<Client>, StoreError>
  /** Adds a key, or gives one that is known to another organisation. */
  readonly putClient: (client: Client) => Effect.Effect<void, StoreError>
  /** Revokes a key: nothing is served for it any more. */
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
    let revision = 0
    const service: Service = {
      decide: (org, model) => Effect.sync(() => decide(org, model)),
      rules: Effect.sync(() => rules),
      revised: Effect.sync(() => ({ revision, rules })),
      setRules: (next, options) =>
        Effect.suspend((): Effect.Effect<number, InvalidRules | RevisionConflict> => {
          const faults = check(next)
          if (faults.length > 0) return Effect.fail(new InvalidRules({ faults }))
          const expected = options?.revision
          if (expected !== undefined && expected !== revision) {
            return Effect.fail(new RevisionConflict({ expected, actual: revision }))
          }
          rules = [...next]
          decide = compile(rules)
          return Effect.succeed(++revision)
        }),
      client: (keyHash) => Effect.sync(() => Option.fromNullable(clients.get(keyHash))),
      clients: Effect.sync(() => [...clients.values()]),
      putClient: (client) =>
        Effect.sync(() => {
          clients.set(client.keyHash, client)
          revision++
        }),
      removeClient: (keyHash) =>
        Effect.sync(() => {
          if (clients.delete(keyHash)) revision++
        })
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
