import type * as AiError from "@effect/ai/AiError"
import type * as Response from "@effect/ai/Response"
import type * as Duration from "effect/Duration"

/**
 * Lets time pass, by the `Clock` in force.
 *
 * @since 0.1.0
 * @category models
 */
export interface Wait {
  readonly _tag: "Wait"
  readonly duration: Duration.DurationInput
}

/**
 * What a scripted stream is made of: a text is a delta of it.
 *
 * @since 0.1.0
 * @category models
 */
export type StreamItem = string | Response.StreamPartEncoded | Wait

/**
 * What one call of a scripted model does.
 *
 * @since 0.1.0
 * @category models
 */
export type Step =
  | { readonly _tag: "Parts"; readonly parts: ReadonlyArray<Response.PartEncoded> }
  | { readonly _tag: "Stream"; readonly items: ReadonlyArray<StreamItem> }
  | { readonly _tag: "Failure"; readonly error: () => AiError.AiError }
  | { readonly _tag: "Defect"; readonly defect: unknown }
  | { readonly _tag: "Hang" }
  | { readonly _tag: "Delayed"; readonly duration: Duration.DurationInput; readonly step: Step }
