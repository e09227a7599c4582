/**
 * What is to happen: when calls come, how providers behave over time, what clients do, which routes and policies are in
 * force.
 *
 * @since 0.1.0
 */
import { readFile } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as Schema from "effect/Schema"
import { parseDocument } from "yaml"
import { callsOf, type LogFault } from "./internal/log.js"
import { faultsOf } from "./internal/scenarioFaults.js"
import { links } from "./internal/scenarioLinks.js"
import { fields } from "./internal/scenarioSchema.js"

const schema = Schema.Struct(fields)
  .pipe(Schema.filter((scenario) => links(scenario).map(({ message, path }) => ({ path: [...path], message }))))
  .annotations({
    identifier: "Scenario",
    title: "Scenario",
    description: "A simulated outage, and who lives through it."
  })

/**
 * A checked scenario with every default filled in; durations and times are in ms, times from the beginning of the run.
 *
 * @since 0.1.0
 * @category models
 */
export interface Scenario extends Schema.Schema.Type<typeof schema> {}

/**
 * The schema of a scenario, for editors (`JSONSchema.make`) and for those who build scenarios in code.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Scenario from "@switchgear/simulator/Scenario"
 *
 * assert.ok(JSON.stringify(Scenario.jsonSchema).includes("brown-out"))
 * ```
 *
 * @since 0.1.0
 * @category schemas
 */
export const jsonSchema: JSONSchema.JsonSchema7Root = JSONSchema.make(schema)

/**
 * One thing that is wrong: where (keys joined by dots), and what to write instead.
 *
 * @since 0.1.0
 * @category models
 */
export interface Fault {
  readonly path: string
  readonly message: string
}

/**
 * A text is no scenario. It names every fault.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { ScenarioError } from "@switchgear/simulator/Scenario"
 *
 * const error = new ScenarioError({ source: "my.yaml", faults: [{ path: "duration", message: "is missing" }] })
 * assert.strictEqual(error.message, "1 fault in my.yaml:\n  duration: is missing")
 * ```
 *
 * @since 0.1.0
 * @category errors
 */
export class ScenarioError extends Data.TaggedError("ScenarioError")<{
  readonly source: string
  readonly faults: ReadonlyArray<Fault>
}> {
  override get message(): string {
    const count = this.faults.length === 1 ? "1 fault" : `${this.faults.length} faults`
    const lines = this.faults.map(({ message, path }) => `  ${path === "" ? message : `${path}: ${message}`}`)
    return [`${count} in ${this.source}:`, ...lines].join("\n")
  }
}

const validate = Schema.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })

/**
 * A scenario from data, or all its faults. A recorded log has to be inside (`arrivals.calls`).
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Scenario from "@switchgear/simulator/Scenario"
 * import * as Either from "effect/Either"
 *
 * const decoded = Scenario.decode({ name: "mine", duration: "5 minutes" })
 * assert.ok(Either.isLeft(decoded))
 * assert.ok(decoded.left.faults.some(({ path }) => path === "providers"))
 * ```
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (
  input: unknown,
  options: { readonly source?: string } = {}
): Either.Either<Scenario, ScenarioError> =>
  Either.mapLeft(
    validate(input),
    (error) => new ScenarioError({ source: options.source ?? "the scenario", faults: faultsOf(error) })
  )

/**
 * A scenario from YAML (or JSON).
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Scenario from "@switchgear/simulator/Scenario"
 * import * as Either from "effect/Either"
 *
 * const scenario = Either.getOrThrow(Scenario.fromYaml(`
 * name: mine
 * description: Half of all answers fail for five minutes.
 * duration: 15 minutes
 * arrivals: { kind: poisson, rate: 10 }
 * providers:
 *   - name: openai
 *     phases: [{ kind: brown-out, from: 5 minutes, to: 10 minutes, errorRate: 0.5 }]
 * models: [{ name: gpt-4o, provider: openai }]
 * `))
 * assert.strictEqual(scenario.duration, 900_000)
 * ```
 *
 * @since 0.1.0
 * @category decoding
 */
export const fromYaml = (
  text: string,
  options: { readonly source?: string } = {}
): Either.Either<Scenario, ScenarioError> => Either.flatMap(parse(text, options), (input) => decode(input, options))

const parse = (text: string, options: { readonly source?: string }): Either.Either<unknown, ScenarioError> => {
  const document = parseDocument(text, { prettyErrors: true })
  const source = options.source ?? "the scenario"
  if (document.errors.length === 0) return Either.right(document.toJS())
  return Either.left(
    new ScenarioError({
      source,
      faults: document.errors.map(({ linePos, message }) => ({
        path: linePos === undefined ? "" : `line ${linePos[0].line}`,
        message: message.split("\n")[0] ?? "is no YAML"
      }))
    })
  )
}

const unreadable = (cause: unknown): string => {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  if (code === "ENOENT") return "there is no such file; check the path"
  if (code === "EISDIR") return "this is a folder; name a file in it"
  return "it cannot be read"
}

const read = (path: string, source: string, field: string): Effect.Effect<string, ScenarioError> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) => new ScenarioError({ source, faults: [{ path: field, message: unreadable(cause) }] })
  })

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/**
 * A scenario from a file. `arrivals: { kind: log, file: calls.jsonl }` is read from beside it: JSON lines with `at` (ms
 * or an ISO date) and, if they like, `model` (or `requestedModel`, as in telemetry).
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Scenario from "@switchgear/simulator/Scenario"
 * import * as Effect from "effect/Effect"
 *
 * const error = Effect.runPromise(Effect.flip(Scenario.load("nowhere.yaml")))
 * assert.strictEqual((await error).faults[0]?.message, "there is no such file; check the path")
 * ```
 *
 * @since 0.1.0
 * @category decoding
 */
export const load = (path: string): Effect.Effect<Scenario, ScenarioError> =>
  Effect.gen(function* () {
    const input = yield* parse(yield* read(path, path, ""), { source: path })
    const arrivals = isObject(input) ? input["arrivals"] : undefined
    if (!isObject(input) || !isObject(arrivals) || typeof arrivals["file"] !== "string") {
      return yield* decode(input, { source: path })
    }
    const log = resolve(dirname(path), arrivals["file"])
    const calls = yield* Either.mapLeft(
      callsOf(yield* read(log, path, "arrivals.file")),
      (faults: ReadonlyArray<LogFault>) =>
        new ScenarioError({
          source: log,
          faults: faults.map(({ line, message }) => ({ path: `line ${line}`, message }))
        })
    )
    return yield* decode({ ...input, arrivals: { kind: "log", calls } }, { source: path })
  })
