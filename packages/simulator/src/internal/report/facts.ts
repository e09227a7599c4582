import type { RunReport } from "../../RunReport.js"
import { duration, many } from "./amounts.js"

/** How much was simulated. */
export const facts = ({ calls, durationMs, runs, seed }: RunReport): string => {
  const seeds = runs === 1 ? `seed ${seed}` : `seeds ${seed} to ${seed + runs - 1}`
  return `${duration(durationMs)} · ${many(runs, "run")}, ${seeds} · ${many(Math.round(calls / runs), "call")} a run`
}
