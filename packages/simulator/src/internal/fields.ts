import * as Policy from "@switchgear/core/Policy"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

/** Fields of a scenario, each with what to write instead when it does not fit. */

const words = 'write whole milliseconds or a duration such as "30 seconds"'

const toMillis = (input: number | string): number | undefined => {
  if (typeof input === "number") return Number.isInteger(input) ? input : undefined
  const decoded = Schema.decodeUnknownEither(Schema.String.pipe(Schema.pattern(/^\d+(\.\d+)?\s+[a-z]+$/)))(input.trim())
  if (Either.isLeft(decoded)) return undefined
  return Option.getOrUndefined(
    Option.map(Duration.decodeUnknown(decoded.right), (duration) => Math.round(Duration.toMillis(duration)))
  )
}

const millisBetween = (least: number, what: string): Schema.Schema<number, number | string> =>
  Schema.transformOrFail(
    Schema.Union(Schema.Number, Schema.String).annotations({ message: () => words }),
    Schema.Number,
    {
      strict: true,
      decode: (input, _options, ast) => {
        const millis = toMillis(input)
        if (millis === undefined) {
          return ParseResult.fail(new ParseResult.Type(ast, input, `${words}, got ${JSON.stringify(input)}`))
        }
        return millis >= least && Number.isSafeInteger(millis)
          ? ParseResult.succeed(millis)
          : ParseResult.fail(new ParseResult.Type(ast, input, `${what} must be at least ${least} ms, got ${millis} ms`))
      },
      encode: (millis) => ParseResult.succeed(millis)
    }
  )

/** A time from the beginning of the run, or a length that may be nothing; ms. */
export const time = (what: string) => millisBetween(0, what)

/** A length of time; ms. */
export const length = (what: string) => millisBetween(1, what)

const got = (actual: unknown): string => `got ${JSON.stringify(actual) ?? String(actual)}`

export const count = (what: string, least = 1) =>
  Schema.Number.pipe(
    Schema.filter((n) => Number.isSafeInteger(n) && n >= least, {
      message: ({ actual }) => `${what} must be a whole number, at least ${least}, ${got(actual)}`
    })
  ).annotations({ message: ({ actual }) => `${what} must be a whole number, at least ${least}, ${got(actual)}` })

export const share = (what: string) =>
  Schema.Number.pipe(
    Schema.filter((n) => n >= 0 && n <= 1, {
      message: ({ actual }) => `${what} is a share: write a number from 0 to 1, ${got(actual)}`
    })
  ).annotations({ message: ({ actual }) => `${what} is a share: write a number from 0 to 1, ${got(actual)}` })

export const positive = (what: string) =>
  Schema.Number.pipe(
    Schema.filter((n) => Number.isFinite(n) && n > 0, {
      message: ({ actual }) => `${what} must be a number above 0, ${got(actual)}`
    })
  ).annotations({ message: ({ actual }) => `${what} must be a number above 0, ${got(actual)}` })

export const text = (what: string) =>
  Schema.String.pipe(Schema.filter((s) => s.trim() !== "", { message: () => `${what} must not be empty` })).annotations(
    { message: ({ actual }) => `${what} must be text, ${got(actual)}` }
  )

export const boolean = (what: string) =>
  Schema.Boolean.annotations({ message: ({ actual }) => `${what} must be true or false, ${got(actual)}` })

export const oneOf = <const L extends ReadonlyArray<string>>(what: string, ...names: L) =>
  Schema.Literal(...names).annotations({
    message: ({ actual }) => `${what} must be one of ${names.join(", ")}, ${got(actual)}`
  })

const isPreset = (name: string): name is keyof typeof Policy.presets => Object.hasOwn(Policy.presets, name)

const faultsOf = (input: unknown): ReadonlyArray<{ readonly path: string; readonly message: string }> => {
  if (typeof input === "string") {
    if (isPreset(input)) return []
    return [{ path: "", message: `no preset is called "${input}": use ${Object.keys(Policy.presets).join(", ")}` }]
  }
  const decoded = Policy.decode(input)
  return decoded._tag === "Success" ? [] : decoded.faults
}

/** A policy's own faults keep their places. */
export const policyOf = (input: unknown): Policy.Policy | undefined => {
  if (typeof input === "string") return isPreset(input) ? Policy.presets[input] : undefined
  const decoded = Policy.decode(input)
  return decoded._tag === "Success" ? decoded.policy : undefined
}

/** A preset's name, or a policy in full. */
export const policy = Schema.Unknown.pipe(
  Schema.filter((input) =>
    faultsOf(input).map(({ message, path }) => ({ path: path === "" ? [] : path.split("."), message }))
  )
)
