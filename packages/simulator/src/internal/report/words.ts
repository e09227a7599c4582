import type { Band, Timeline } from "../../RunReport.js"

/** How calls end, from the best to the worst; in a stack, from bottom to top. */
export const endings = [
  { name: "served", label: "served", meaning: "answered by the model that was asked for" },
  { name: "rescued", label: "rescued", meaning: "answered by a fallback" },
  { name: "aborted", label: "aborted", meaning: "the client left before an answer" },
  { name: "rejected", label: "refused", meaning: "turned away locally, as every target was open or saturated" },
  { name: "failed", label: "failed", meaning: "answered with an error, or too late" }
] as const satisfies ReadonlyArray<{ readonly name: keyof Timeline; readonly label: string; readonly meaning: string }>

/** The states of a breaker, in the order of its life. */
export const states: ReadonlyArray<{ readonly state: Band["state"]; readonly label: string; readonly letter: string }> =
  [
    { state: "Closed", label: "closed", letter: "·" },
    { state: "Degraded", label: "degraded", letter: "D" },
    { state: "Open", label: "open", letter: "O" },
    { state: "HalfOpen", label: "half-open", letter: "H" }
  ]

const labelsOf: Readonly<Record<Band["state"], string>> = {
  Closed: "closed",
  Degraded: "degraded",
  Open: "open",
  HalfOpen: "half-open"
}

export const stateLabel = (state: Band["state"]): string => labelsOf[state]

/**
 * What a terminal or a page must not get: controls (an escape sequence would move the cursor), marks that turn the
 * direction of what follows, halves of surrogate pairs.
 */
const unfit = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Noncharacter_Code_Point}\ufeff]/gu

/** A name as it may be shown; each character that may not is a replacement character. */
export const shown = (text: string): string => text.replace(/[\t\n\r]+/g, " ").replace(unfit, "\ufffd")
