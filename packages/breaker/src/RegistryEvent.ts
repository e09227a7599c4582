/**
 * What a registry has to say of itself, rather than of one of its breakers.
 *
 * @since 0.1.0
 */

/**
 * - `Grown`: more breakers than the bound, because those there are may not be forgotten. Told once until it is back.
 * - `Unguarded`: the hard limit is reached; calls under new names run without a breaker. Told once until it is back.
 * - `StoreUnavailable`: breakers go on in this process alone. `StoreAvailable`: the store has answered again.
 *
 * `at`: wall time, in ms since 1970.
 *
 * @since 0.1.0
 * @category models
 */
export type RegistryEvent =
  | { readonly _tag: "Grown"; readonly at: number; readonly size: number; readonly bound: number }
  | { readonly _tag: "Unguarded"; readonly at: number; readonly breaker: string; readonly size: number }
  | { readonly _tag: "StoreUnavailable"; readonly at: number; readonly reason: "Unavailable" | "Full" | "Corrupt" }
  | { readonly _tag: "StoreAvailable"; readonly at: number }
