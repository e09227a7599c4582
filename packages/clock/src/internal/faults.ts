/** A fault of one kind of reading. Times in ms of the wrapped clock's age. */
export interface Step {
  readonly at: number
  /** How far readings move, or for how long they stand still. */
  readonly by: number
  readonly freezes: boolean
}

/** Makes one of freezes that overlap: a clock cannot stand still twice at once. */
export const mergeFreezes = (steps: ReadonlyArray<Step>): ReadonlyArray<Step> => {
  const merged = steps.filter((step) => !step.freezes)
  let last: Step | undefined
  for (const freeze of steps.filter((step) => step.freezes).sort((a, b) => a.at - b.at)) {
    if (last !== undefined && freeze.at <= last.at + last.by) {
      last = { ...last, by: Math.max(last.by, freeze.at + freeze.by - last.at) }
    } else {
      if (last !== undefined) merged.push(last)
      last = freeze
    }
  }
  if (last !== undefined) merged.push(last)
  return merged
}

/** How far readings are from the wrapped clock's, in ms, when that has run for `age`. */
export const shift = (steps: ReadonlyArray<Step>, age: number): number => {
  let total = 0
  for (const step of steps) {
    if (age >= step.at) total += step.freezes ? -Math.min(age - step.at, step.by) : step.by
  }
  return total
}
