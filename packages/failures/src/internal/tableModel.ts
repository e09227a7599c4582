import type { Kind, Scope } from "../Failure.js"

/**
 * Names of errors that mean the same: codes, types, reasons, exceptions. `*` stands for any text at either end. With
 * `refine` the words may still say more (a rate limit may turn out to be a daily cap).
 *
 * @since 0.1.0
 * @category models
 */
export interface SignalRow {
  readonly kind: Kind
  readonly scope?: Scope
  readonly refine?: true
  readonly signals: ReadonlyArray<string>
}

/**
 * Words that refine a status. `on` lists statuses and classes (`5xx`); rows are tried in order, the first that matches
 * decides. With `unless`, these words take the match back.
 *
 * @since 0.1.0
 * @category models
 */
export interface WordRow {
  readonly on: ReadonlyArray<number | "5xx">
  readonly kind: Kind
  readonly words: RegExp
  readonly unless?: RegExp
  readonly says: string
}
