import * as Cursor from "./cursor.js"
import { array, type Decoder, duration, integer, literal, optional, required, struct, text } from "./decoder.js"

/** What a scripted provider does with one call. */
export type ScriptStep =
  | { readonly _tag: "Ok"; readonly text: string | undefined }
  | { readonly _tag: "Status"; readonly status: number; readonly retryAfter: number | undefined }
  | { readonly _tag: "Hang" | "Reset" | "Cut" }
  | { readonly _tag: "Drip"; readonly parts: ReadonlyArray<string>; readonly every: number }

const word = literal("step", "ok", "hang", "reset", "cut")

const fields = {
  ok: struct({ ok: required(text("what it says"), "") }, "an answer"),
  status: struct(
    {
      status: required(integer("a status", 400, 599), ""),
      retryAfter: optional(duration("the time after which it asks to be tried again"))
    },
    "an error"
  ),
  drip: struct(
    {
      drip: required(array(text("a part of the answer"), "parts", { min: 1 }), ""),
      every: required(duration("the time between parts"), 'say how far apart its parts are, such as "50 millis"')
    },
    "an answer in parts"
  )
}

const step: Decoder<ScriptStep> = (at) => {
  const keys = Cursor.entries(at)?.map(({ key }) => key)
  if (keys === undefined) {
    switch (word(at)) {
      case "ok":
        return { _tag: "Ok", text: undefined }
      case "hang":
        return { _tag: "Hang" }
      case "reset":
        return { _tag: "Reset" }
      case "cut":
        return { _tag: "Cut" }
      default:
        return undefined
    }
  }
  if (keys.includes("status")) {
    const found = fields.status(at)
    return found === undefined ? undefined : { _tag: "Status", ...found }
  }
  if (keys.includes("drip")) {
    const found = fields.drip(at)
    return found === undefined ? undefined : { _tag: "Drip", parts: found.drip, every: found.every }
  }
  if (keys.includes("ok")) {
    const found = fields.ok(at)
    return found === undefined ? undefined : { _tag: "Ok", text: found.ok }
  }
  return Cursor.fault(
    at,
    "must be ok, hang, reset, cut, { ok: TEXT }, { status: 503, retryAfter: ... } or { drip: [PARTS], every: ... }"
  )
}

/** One step per call, over and over. */
export const script: Decoder<ReadonlyArray<ScriptStep>> = array(step, "steps", { min: 1 })
