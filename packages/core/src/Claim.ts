/**
 * The claim on an idempotency key as a pure machine over what a store holds for it (ROUTING I2, I3). Each function is the
 * one step of a compare-and-set: record and the store's time in, verdict and next record out. It may run again on a
 * conflict, and again after an answer that got lost.
 *
 * @since 0.1.0
 */

/**
 * What a key holds while its call runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface Pending {
  readonly _tag: "Pending"
  readonly owner: string
  readonly fingerprint: string
  /** ms, the store's time; from then on anyone may claim the key. */
  readonly until: number
}

/**
 * What a key holds when its call has ended with an answer worth keeping.
 *
 * @since 0.1.0
 * @category models
 */
export interface Completed<A> {
  readonly _tag: "Completed"
  readonly owner: string
  readonly fingerprint: string
  /** ms, the store's time; from then on the key is free. */
  readonly until: number
  readonly result: A
}

/**
 * What a store holds for a key; `undefined` is nothing. Plain data if the result is.
 *
 * @since 0.1.0
 * @category models
 */
export type Record<A> = Pending | Completed<A> | undefined

/**
 * Who claims: a call's own id, and the hash of all that shapes its answer.
 *
 * @since 0.1.0
 * @category models
 */
export interface Claimant {
  readonly owner: string
  readonly fingerprint: string
}

/**
 * How long and what a key holds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** ms that a claim lasts without an end of its call. */
  readonly lease: number
  /** ms that an answer is kept. */
  readonly ttl: number
  /** ms after which to ask again for a result that is on its way. */
  readonly retryAfter: number
  /** Bytes of the largest answer that is kept. */
  readonly maxSize: number
  /** `"final"`: whatever a repetition could not change. `"success"`: successes only, and no streams. */
  readonly store: "final" | "success"
}

/**
 * A lease of 9 minutes, answers kept for 24 hours and up to 1 MiB, asked for again after a second; final ones.
 *
 * @example
 * ```ts
 * import * as Claim from "@switchgear/core/Claim"
 * import assert from "node:assert"
 *
 * const brief = { ...Claim.defaults, lease: 30_000 }
 * const [, record] = Claim.claim<string>(undefined, { owner: "call-1", fingerprint: "f" }, 0, brief)
 * assert.strictEqual(record?.until, 30_000)
 * ```
 *
 * @since 0.1.0
 * @category models
 */
export const defaults: Settings = {
  lease: 540_000,
  ttl: 86_400_000,
  retryAfter: 1_000,
  maxSize: 1_048_576,
  store: "final"
}

/**
 * What a claim comes to.
 *
 * @since 0.1.0
 * @category models
 */
export type Verdict<A> =
  /** Make the call, then commit or release. */
  | { readonly _tag: "Claimed" }
  /** Answer with this. */
  | { readonly _tag: "Replay"; readonly result: A }
  /** 409 `idempotency_in_progress`; ask again after so many ms. The claim ends by itself `until` then. */
  | { readonly _tag: "InProgress"; readonly retryAfter: number; readonly until: number }
  /** 409 `idempotency_key_reused`: the key belongs to another request. */
  | { readonly _tag: "KeyReused" }

const claimed: Verdict<never> = { _tag: "Claimed" }
const keyReused: Verdict<never> = { _tag: "KeyReused" }

const isOf = (record: Pending | Completed<unknown>, who: Claimant): boolean =>
  record.owner === who.owner && record.fingerprint === who.fingerprint

/** No sum is too large: a time beyond what counts exactly is never. */
const after = (now: number, ms: number): number => Math.min(now + ms, Number.MAX_SAFE_INTEGER)

/**
 * Claims a key. A record past its time is nothing; a claim that is ours already stays ours.
 *
 * @example
 * ```ts
 * import * as Claim from "@switchgear/core/Claim"
 * import assert from "node:assert"
 *
 * const first = { owner: "call-1", fingerprint: "f" }
 * const [, pending] = Claim.claim<string>(undefined, first, 0)
 * const [verdict] = Claim.claim(pending, { owner: "call-2", fingerprint: "f" }, 10)
 * assert.strictEqual(verdict._tag, "InProgress")
 * const [, completed] = Claim.commit(pending, first, "answer", 20)
 * const [replay] = Claim.claim(completed, { owner: "call-3", fingerprint: "f" }, 30)
 * assert.deepStrictEqual(replay, { _tag: "Replay", result: "answer" })
 * ```
 *
 * @since 0.1.0
 * @category steps
 */
export const claim = <A>(
  record: Record<A>,
  who: Claimant,
  now: number,
  settings: Settings = defaults
): readonly [Verdict<A>, Record<A>] => {
  if (record === undefined || now >= record.until) {
    const { fingerprint, owner } = who
    return [claimed, { _tag: "Pending", owner, fingerprint, until: after(now, settings.lease) }]
  }
  if (record.fingerprint !== who.fingerprint) return [keyReused, record]
  if (record._tag === "Completed") return [{ _tag: "Replay", result: record.result }, record]
  if (record.owner === who.owner) return [claimed, record]
  const retryAfter = Math.min(settings.retryAfter, record.until - now)
  return [{ _tag: "InProgress", retryAfter, until: record.until }, record]
}

/**
 * Keeps the answer of a call. `Lost`: the claim has passed to another call, whose record stays. A lease that ran out
 * without another claim is still ours.
 *
 * @example
 * ```ts
 * import * as Claim from "@switchgear/core/Claim"
 * import assert from "node:assert"
 *
 * const slow = { owner: "call-1", fingerprint: "f" }
 * const [, first] = Claim.claim<string>(undefined, slow, 0)
 * const late = Claim.defaults.lease
 * const [, second] = Claim.claim(first, { owner: "call-2", fingerprint: "f" }, late)
 * assert.deepStrictEqual(Claim.commit(second, slow, "too late", late + 1), ["Lost", second])
 * ```
 *
 * @since 0.1.0
 * @category steps
 */
export const commit = <A>(
  record: Record<A>,
  who: Claimant,
  result: A,
  now: number,
  settings: Settings = defaults
): readonly ["Committed" | "Lost", Record<A>] => {
  if (record === undefined || !isOf(record, who)) return ["Lost", record]
  if (record._tag === "Completed") return ["Committed", record]
  const { fingerprint, owner } = record
  return ["Committed", { _tag: "Completed", owner, fingerprint, until: after(now, settings.ttl), result }]
}

/**
 * Gives a key back, so that the request can be made anew. `Lost`: it is not, or no longer, a pending claim of ours.
 *
 * @example
 * ```ts
 * import * as Claim from "@switchgear/core/Claim"
 * import assert from "node:assert"
 *
 * const who = { owner: "call-1", fingerprint: "f" }
 * const [, pending] = Claim.claim<string>(undefined, who, 0)
 * assert.deepStrictEqual(Claim.release(pending, who), ["Released", undefined])
 * ```
 *
 * @since 0.1.0
 * @category steps
 */
export const release = <A>(record: Record<A>, who: Claimant): readonly ["Released" | "Lost", Record<A>] =>
  record !== undefined && record._tag === "Pending" && isOf(record, who) ? ["Released", undefined] : ["Lost", record]

/**
 * How a call ended, as far as it matters here.
 *
 * @since 0.1.0
 * @category models
 */
export interface Ending {
  readonly status: number
  /** Bytes */
  readonly size: number
  readonly stream: boolean
  /** The whole answer was received: no cancelled caller, no stream without its end (I4). */
  readonly finished: boolean
}

const passing: ReadonlyArray<number> = [408, 409, 425, 429]

/**
 * Whether an answer is kept (ROUTING I3): a success, or a 4xx that a repetition would get again; finished, and not too
 * large. Everything else is released.
 *
 * @example
 * ```ts
 * import * as Claim from "@switchgear/core/Claim"
 * import assert from "node:assert"
 *
 * const ending = { size: 100, stream: false, finished: true }
 * assert.strictEqual(Claim.isKept({ ...ending, status: 422 }), true)
 * assert.strictEqual(Claim.isKept({ ...ending, status: 429 }), false)
 * ```
 *
 * @since 0.1.0
 * @category steps
 */
export const isKept = (ending: Ending, settings: Settings = defaults): boolean => {
  const { finished, size, status, stream } = ending
  if (!finished || !(size <= settings.maxSize)) return false
  const success = status >= 200 && status < 300
  if (settings.store === "success") return success && !stream
  return success || (status >= 400 && status < 500 && !passing.includes(status))
}
