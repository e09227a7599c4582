import { normal } from "./random.js"
import type { Latency } from "./scenarioSchema.js"

const z95 = normal(0.95)

/** ms by quantile; whole, at least 1. */
export type Quantile = (u: number) => number

export const quantile = (latency: Latency): Quantile => {
  if (typeof latency === "number") return () => latency
  const median = Math.log(latency.p50)
  const sigma = (Math.log(latency.p95) - median) / z95
  return (u) => Math.max(1, Math.round(Math.exp(median + sigma * normal(u))))
}
