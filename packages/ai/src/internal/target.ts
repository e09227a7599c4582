import type * as LanguageModel from "@effect/ai/LanguageModel"
import type { CircuitBreaker } from "@switchgear/breaker/CircuitBreaker"
import type { ProviderKind } from "@switchgear/failures/ProviderKind"
import * as Redacted from "effect/Redacted"
import type { Target } from "./attempt.js"
import { wrappers } from "./insulate.js"
import { limitsOf, type Timeouts } from "./limits.js"

export type { Timeouts } from "./limits.js"

export interface ModelOptions {
  /**
   * `firstOutput` and `idle` are for streams (default 60 seconds each): until the first output, and between outputs;
   * metadata and empty deltas are none. `total` is for every call (default 10 minutes). `Duration.infinity` is no limit.
   */
  readonly timeouts?: Timeouts | undefined
  /** Whose tables say what an error means. Default `openai-compatible`, which knows the common words of all. */
  readonly provider?: ProviderKind | undefined
  /** Masked in errors, logs and spans whatever they look like. What a failed request's headers held is masked unasked. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted> | undefined
}

export const targetOf = (model: LanguageModel.Service, breaker: CircuitBreaker, options: ModelOptions): Target => {
  const secrets = (options.secrets ?? []).map(Redacted.value)
  return {
    model,
    breaker,
    provider: options.provider,
    limits: limitsOf(options.timeouts),
    secrets,
    wrappers: wrappers({ secrets, provider: options.provider })
  }
}
