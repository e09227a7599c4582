/**
 * The settings of a fallback walk: which failures move a call to the next target, how far, and what a failed walk
 * answers. Checked once, so that {@link "./Walk.js" | Walk} never meets a bad number.
 *
 * @since 0.1.0
 */
import { decodeChain_, decodeSettings } from "./internal/walkDecode.js"
import type { Failure, Settings, SettingsInput } from "./internal/walkModel.js"
import { ibex_, nrLlm_, recommended_ } from "./internal/walkPresets.js"

export type { Fault } from "./internal/decode.js"
export type {
  /**
   * A decoded value, or all the faults found in its input.
   *
   * @since 0.1.0
   * @category models
   */
  Result
} from "./internal/walkDecode.js"
export type {
  /**
   * Checked settings with every default filled in; plain data.
   *
   * @since 0.1.0
   * @category models
   */
  Settings,
  /**
   * Settings as a person writes them: everything is optional, `preset` fills the rest.
   *
   * @since 0.1.0
   * @category models
   */
  SettingsInput
} from "./internal/walkModel.js"

/**
 * The recommended settings (ROUTING F4): one hop, called targets only use depth, the primary's error is answered,
 * targets with a healthy breaker first, hops at most half of the first attempts.
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import assert from "node:assert"
 *
 * assert.strictEqual(Fallback.recommended.maxDepth, 1)
 * assert.strictEqual(Fallback.movesOn(Fallback.recommended, { kind: "rate_limit", status: 429 }), true)
 * ```
 *
 * @since 0.1.0
 * @category presets
 */
export const recommended: Settings = recommended_

/**
 * The trigger set of ADR-0077: an open circuit, any 5xx, our timeout; never a 4xx; the first `maxDepth` entries of the
 * chain are all there is; no look at a hop's breaker beforehand.
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import assert from "node:assert"
 *
 * assert.strictEqual(Fallback.movesOn(Fallback.ibex, { kind: "rate_limit", status: 429 }), false)
 * assert.strictEqual(Fallback.movesOn(Fallback.ibex, { kind: "overloaded", status: 529 }), true)
 * ```
 *
 * @since 0.1.0
 * @category presets
 */
export const ibex: Settings = ibex_

/**
 * The trigger set of ADR-063: the whole chain is walked, and a walk that failed answers with all its attempts listed.
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import assert from "node:assert"
 *
 * assert.strictEqual(Fallback.nrLlm.surface, "exhausted")
 * ```
 *
 * @since 0.1.0
 * @category presets
 */
export const nrLlm: Settings = nrLlm_

/**
 * The presets by the name a configuration gives them.
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import assert from "node:assert"
 *
 * assert.deepStrictEqual(Object.keys(Fallback.presets), ["recommended", "ibex", "nrLlm"])
 * ```
 *
 * @since 0.1.0
 * @category presets
 */
export const presets: Readonly<Record<"recommended" | "ibex" | "nrLlm", Settings>> = { recommended, ibex, nrLlm }

/**
 * Reads settings from untrusted data. Total: it reports all faults at once, each with its path and the fix.
 *
 * Defaults are those of `preset`, else of {@link recommended}. `on` and `never` take kinds, statuses (`503`) and
 * classes (`"5xx"`); `maxDepth` is a count of hops, at least 1; `budget` a share in [0, 1], where 1 is off (ROUTING F13).
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import assert from "node:assert"
 *
 * const decoded = Fallback.decode({ preset: "ibex", maxDepth: 0, onn: ["timeout"] })
 * assert(decoded._tag === "Failure")
 * assert.deepStrictEqual(decoded.faults.map((fault) => fault.path), ["onn", "maxDepth"])
 * ```
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = decodeSettings

/**
 * Reads a chain of targets' names (ROUTING F2): names are trimmed, blanks and repeats dropped; more than 8 entries as
 * written are refused.
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import assert from "node:assert"
 *
 * assert.deepStrictEqual(Fallback.decodeChain([" llama ", "", "llama"]), { _tag: "Success", value: ["llama"] })
 * assert.strictEqual(Fallback.decodeChain(Array.from("abcdefghi"))._tag, "Failure")
 * ```
 *
 * @since 0.1.0
 * @category decoding
 */
export const decodeChain = decodeChain_

/**
 * Settings that could not be made, with every fault.
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import assert from "node:assert"
 *
 * assert.throws(() => Fallback.make({ maxDepth: 0, budget: 2 }), (error) =>
 *   error instanceof Fallback.FallbackError && error.faults.length === 2)
 * ```
 *
 * @since 0.1.0
 * @category errors
 */
export class FallbackError extends Error {
  override readonly name = "FallbackError"
  constructor(readonly faults: ReadonlyArray<{ readonly path: string; readonly message: string }>) {
    super(faults.map((fault) => (fault.path === "" ? fault.message : `${fault.path}: ${fault.message}`)).join("\n"))
  }
}

/**
 * Settings from trusted code.
 *
 * Throws a {@link FallbackError} naming every fault; use {@link decode} for what comes from outside.
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import assert from "node:assert"
 *
 * assert.strictEqual(Fallback.make({ maxDepth: 2 }).surface, "primary")
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (input: SettingsInput = {}): Settings => {
  const decoded = decodeSettings(input)
  if (decoded._tag === "Failure") throw new FallbackError(decoded.faults)
  return decoded.value
}

/** A status as the class it belongs to: `"5xx"`. */
const classOf = (status: number): string => `${Math.floor(status / 100)}xx`

const names = (keys: ReadonlyArray<string>, failure: Pick<Failure, "kind" | "status">): boolean =>
  keys.includes(failure.kind) ||
  (failure.status !== undefined && (keys.includes(String(failure.status)) || keys.includes(classOf(failure.status))))

/**
 * Whether a failure moves a call to the next target (ROUTING F4): its kind, status or class is in `on`, none in
 * `never`. A target without room (`saturated`) need not be named in `on` (F14), and a cancelled call never moves (F9).
 * For `context_length` the next target must also have a larger window, which the walk looks after.
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import assert from "node:assert"
 *
 * assert.strictEqual(Fallback.movesOn(Fallback.ibex, { kind: "server_error", status: 502 }), true)
 * assert.strictEqual(Fallback.movesOn(Fallback.ibex, { kind: "timeout", status: 408 }), false)
 * ```
 *
 * @since 0.1.0
 * @category triggers
 */
export const movesOn = (settings: Settings, failure: Pick<Failure, "kind" | "status">): boolean =>
  failure.kind !== "cancelled" &&
  (failure.kind === "saturated" || names(settings.on, failure)) &&
  !names(settings.never, failure)
