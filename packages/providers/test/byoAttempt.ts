import * as Byo from "@switchgear/providers/Byo"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { canary } from "./harness.js"

export const publicAddress = "93.184.215.14"

/** What became of a base URL: `ok`, or why not; and what was asked of the resolver. */
export const attempt = async (
  baseUrl: string,
  options: Byo.Options = {},
  answers: ReadonlyArray<string> = [publicAddress]
) => {
  const names: Array<string> = []
  const resolve: Byo.Resolver = (name) => {
    names.push(name)
    return Effect.succeed(answers)
  }
  const asked = { apiKey: Redacted.make(canary), baseUrl, dialect: "chat.completions" } as const
  const result = await Effect.runPromise(Effect.scoped(Effect.either(Byo.provider({ resolve, ...options }, asked))))
  return {
    result: Either.isRight(result) ? "ok" : result.left.reason,
    names,
    error: Either.isLeft(result) ? result.left : undefined
  }
}
