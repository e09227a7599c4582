import * as Classifier from "@switchgear/failures/Classifier"
import type * as Failure from "@switchgear/failures/Failure"
import type { ProviderKind } from "@switchgear/failures/ProviderKind"
import * as StreamClassifier from "@switchgear/failures/StreamClassifier"
import * as Thrown from "@switchgear/failures/Thrown"
import { errors } from "undici"

/** Whose answers are read, and what must not show in what they say. Made once per provider. */
export class Meaning {
  /** Where every stream begins; its states are shared by all of them. */
  readonly initial: StreamClassifier.State

  constructor(
    private readonly provider: ProviderKind,
    private readonly secrets: ReadonlyArray<string>
  ) {
    this.initial = StreamClassifier.initial(provider, secrets)
  }

  /** A complete answer: what failed about it, if anything did. */
  answer(
    asked: "json" | "stream",
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    now: number
  ): Failure.Failure | undefined {
    const verdict = Classifier.classify({
      provider: this.provider,
      status,
      headers,
      body,
      now,
      asked,
      secrets: this.secrets
    })
    return verdict._tag === "Failure" ? verdict.failure : undefined
  }

  /** What the connection threw. */
  thrown(error: unknown, now: number): Failure.Failure {
    // undici leaves the parser's code out.
    const known = error instanceof errors.HTTPParserError && error.code === undefined ? { code: "HPE_INVALID" } : error
    return Thrown.classify(known, { now, provider: this.provider, secrets: this.secrets })
  }
}
