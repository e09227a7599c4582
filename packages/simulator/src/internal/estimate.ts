import type { Estimate } from "../RunReport.js"

/** Two-sided 95 % quantiles of Student's t by degrees of freedom, from 1 on. */
const t95 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042
]

/** Beyond the table: Cornish and Fisher's expansion around the normal quantile, right to four digits. */
const studentT = (freedom: number): number => {
  const z = 1.959964
  return t95[freedom - 1] ?? z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2)
}

/** Figures are told to so many digits; what is beyond is noise. */
const rounded = (value: number): number => Number(value.toPrecision(9))

/** The mean of the runs that have the figure, and how sure it is. */
export const estimate = (values: ReadonlyArray<number | undefined>): Estimate | null => {
  const known = values.filter((value) => value !== undefined)
  const runs = known.length
  if (runs === 0) return null
  const mean = known.reduce((sum, value) => sum + value, 0) / runs
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const half = runs === 1 ? 0 : studentT(runs - 1) * Math.sqrt(squares / (runs - 1) / runs)
  return { mean: rounded(mean), low: rounded(mean - half), high: rounded(mean + half), runs }
}
