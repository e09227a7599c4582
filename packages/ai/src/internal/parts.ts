import type * as AiError from "@effect/ai/AiError"
import * as Predicate from "effect/Predicate"
import { empty, finishedInError } from "./faults.js"

/** What all parts of an answer have in common, of `generateText` and of `streamText`. */
export interface Part {
  readonly type: string
}

const filled = (part: Part, key: "text" | "delta"): boolean =>
  Predicate.hasProperty(part, key) && Predicate.isString(part[key]) && part[key] !== ""

/**
 * What a reader can show or act on (DESIGN 4): text, reasoning, a tool and its parameters, a file, a source. Not
 * metadata, not the start of a text, not an empty delta, not usage.
 */
export const isOutput = (part: Part): boolean => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return filled(part, "text")
    case "text-delta":
    case "reasoning-delta":
    case "tool-params-delta":
      return filled(part, "delta")
    case "tool-params-start":
    case "tool-call":
    case "tool-result":
    case "file":
    case "source":
      return true
    default:
      return false
  }
}

export const isEmptyDelta = (part: Part): boolean => part.type.endsWith("-delta") && !filled(part, "delta")

const isFinish = (part: Part): boolean => part.type === "finish"

/** A stream commits at its first output; one that finishes well without any has nothing more to wait for. */
export const commits = (part: Part): boolean => isOutput(part) || isFinish(part)

const tokens = (part: Part): number => {
  const usage = Predicate.hasProperty(part, "usage") ? part.usage : undefined
  const output = Predicate.hasProperty(usage, "outputTokens") ? usage.outputTokens : undefined
  return Predicate.isNumber(output) ? output : 0
}

/**
 * What is wrong with a finish. OpenAI's client makes a clean one of `response.failed`: then there was neither output nor
 * a token of it.
 */
export const faultOfFinish = (part: Part, output: boolean, method: string): AiError.AiError | undefined => {
  const reason = Predicate.hasProperty(part, "reason") ? part.reason : undefined
  if (reason === "error") return finishedInError(method)
  const natural = reason === "stop" || reason === "unknown" || reason === "other"
  return natural && !output && tokens(part) === 0 ? empty(method) : undefined
}

/** What is wrong with a whole answer. */
export const faultOf = (content: ReadonlyArray<Part>, method: string): AiError.AiError | undefined => {
  const output = content.some(isOutput)
  const finish = content.find(isFinish)
  if (finish !== undefined) return faultOfFinish(finish, output, method)
  return output ? undefined : empty(method)
}
