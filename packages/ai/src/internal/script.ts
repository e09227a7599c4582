import * as AiError from "@effect/ai/AiError"
import type * as Response from "@effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { Step, StreamItem, Wait } from "./scriptModel.js"

export const finish = (reason: Response.FinishReason): Response.FinishPartEncoded => ({
  type: "finish",
  reason,
  usage: { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined }
})

const isWait = (item: StreamItem): item is Wait => Predicate.hasProperty(item, "_tag")

/** A stream's items as parts: texts get their start before the first of them, and their end before what follows. */
const withTexts = (items: ReadonlyArray<StreamItem>): ReadonlyArray<Response.StreamPartEncoded | Wait> => {
  const parts: Array<Response.StreamPartEncoded | Wait> = []
  let id = 0
  let open = false
  for (const item of items) {
    if (Predicate.isString(item)) {
      if (!open) parts.push({ type: "text-start", id: String(++id) })
      open = true
      parts.push({ type: "text-delta", id: String(id), delta: item })
      continue
    }
    if (open && !isWait(item) && item.type !== "error") {
      parts.push({ type: "text-end", id: String(id) })
      open = false
    }
    parts.push(item)
  }
  return parts
}

const streamOf = (items: ReadonlyArray<StreamItem>): Stream.Stream<Response.StreamPartEncoded> =>
  Stream.flatMap(Stream.fromIterable(withTexts(items)), (part) =>
    isWait(part) ? Stream.execute(Effect.sleep(part.duration)) : Stream.succeed(part)
  )

/** An answer in one piece, as a stream would tell it. */
const itemsOf = (parts: ReadonlyArray<Response.PartEncoded>): ReadonlyArray<StreamItem> =>
  parts.flatMap((part): ReadonlyArray<StreamItem> => {
    if (part.type === "text") return [part.text]
    if (part.type !== "reasoning") return [part]
    return [
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: part.text },
      { type: "reasoning-end", id: "r" }
    ]
  })

export const play = (step: Step): Stream.Stream<Response.StreamPartEncoded, AiError.AiError> => {
  switch (step._tag) {
    case "Parts":
      return streamOf(itemsOf(step.parts))
    case "Stream":
      return streamOf(step.items)
    case "Failure":
      return Stream.failSync(step.error)
    case "Defect":
      return Stream.die(step.defect)
    case "Hang":
      return Stream.never
    case "Delayed":
      return Stream.concat(Stream.execute(Effect.sleep(step.duration)), play(step.step))
  }
}

/** What a stream tells, in one piece. An `error` part is a failure here: a call has no other way to tell it. */
const collect = (items: ReadonlyArray<StreamItem>): Effect.Effect<Array<Response.PartEncoded>, AiError.AiError> =>
  Effect.gen(function* () {
    const parts: Array<Response.PartEncoded> = []
    let text = ""
    for (const item of items) {
      if (Predicate.isString(item)) {
        text += item
        continue
      }
      if (isWait(item)) yield* Effect.sleep(item.duration)
      else if (item.type === "error") {
        return yield* new AiError.UnknownError({
          module: "ScriptedLanguageModel",
          method: "generateText",
          description: "An error part",
          cause: { error: item.error }
        })
      } else if (isWhole(item)) parts.push(item)
    }
    return text === "" ? parts : [{ type: "text", text }, ...parts]
  })

const isWhole = (part: Response.StreamPartEncoded): part is Extract<Response.StreamPartEncoded, Response.PartEncoded> =>
  !/^(?:text|reasoning|tool-params)-/.test(part.type) && part.type !== "error"

export const answer = (step: Step): Effect.Effect<Array<Response.PartEncoded>, AiError.AiError> => {
  switch (step._tag) {
    case "Parts":
      return Effect.sync(() => [...step.parts])
    case "Stream":
      return collect(step.items)
    case "Failure":
      return Effect.failSync(step.error)
    case "Defect":
      return Effect.die(step.defect)
    case "Hang":
      return Effect.never
    case "Delayed":
      return Effect.delay(answer(step.step), step.duration)
  }
}
