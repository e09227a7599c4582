import type * as Breaker from "@switchgear/core/Breaker"

type Tag = Breaker.State["_tag"]

export interface Step {
  readonly from: Tag
  readonly to: Tag
  readonly era: number
}

/** What the process that is killed writes down. Times are wall time in ms. */
export type Line =
  /** What a breaker was when the process began. */
  | {
      readonly _tag: "Found"
      readonly breaker: string
      readonly at: number
      readonly state: string
      readonly until: number | undefined
      readonly failures: number
      readonly transitions: ReadonlyArray<Step>
    }
  | { readonly _tag: "Ready" }
  | (Step & { readonly _tag: "Announced"; readonly breaker: string; readonly until: number | undefined })
  | { readonly _tag: "Count"; readonly breaker: string; readonly at: number; readonly failures: number }
  | { readonly _tag: "Committed"; readonly key: string }
  | { readonly _tag: "Appended"; readonly batch: string }

const numbered = (name: string, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, i) => `${name}-${i}`)

export const names = { restless: numbered("restless", 4), slow: numbered("slow", 4), counting: numbered("counting", 2) }

export const who = { owner: "one", fingerprint: "f" }
