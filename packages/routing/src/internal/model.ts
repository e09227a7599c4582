import type { Answer, Operation, Provider } from "@switchgear/providers/Provider"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { Attempt } from "../Attempt.js"

/** What is asked of a model, whoever asks. */
export interface Asked {
  /** The model that was asked for. */
  readonly model: string
  readonly operation: Operation
  /** JSON. For each target its top-level `model` is replaced by the name the provider knows (ROUTING W6). */
  readonly body: Uint8Array
  readonly stream: boolean
  /** What to forward; never credentials. */
  readonly headers: Readonly<Record<string, string>>
  /** ms that the caller can still wait, all targets together. */
  readonly timeLeft?: number | undefined
  /** `false`: the requested model or nothing. Default true. */
  readonly fallback?: boolean | undefined
  /** The caller's own key: no fallback, and nothing shared is read or written (ROUTING F8). */
  readonly apiKey?: Redacted.Redacted | undefined
  /** The caller's own upstream, in place of the model's provider. As with `apiKey`, nothing is shared (ROUTING F8). */
  readonly via?: Provider | undefined
}

export interface Request extends Asked {
  /** In place of the model's own chain, for instance the one of an organisation's policy (ROUTING F2). */
  readonly chain?: ReadonlyArray<string> | undefined
  /** Whether the policy allows a model, asked for every target; a failure stops the walk (ROUTING F5). Default: all are. */
  readonly allow?: ((model: string) => Effect.Effect<boolean, unknown>) | undefined
}

export interface Routed {
  /** A stream's body fails with a `ProviderError` if it breaks: after output there is no next target (ROUTING F7). */
  readonly answer: Answer
  /** The model that served it, by the name clients know. */
  readonly model: string
  readonly provider: string
  /** Whether that is not the model that was asked for. */
  readonly substituted: boolean
  readonly attempts: ReadonlyArray<Attempt>
}
