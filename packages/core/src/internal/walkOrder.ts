import { maxChain } from "./walkDecode.js"
import type { Plan, Target } from "./walkModel.js"

const rank = { Closed: 0, Degraded: 1, HalfOpen: 2, Open: 3 } as const

const rankOf = (target: Target): number => rank[target.state ?? "Closed"] ?? 0

/** ROUTING H1: no sample is neutral, never sunk. */
const scoreOf = (target: Target): number =>
  target.score === undefined || Number.isNaN(target.score) ? 0.5 : target.score

// `sort` is stable by the language's own promise (ES2019)

export const byState = (chain: ReadonlyArray<Target>): ReadonlyArray<Target> =>
  [...chain].sort((a, b) => rankOf(a) - rankOf(b))

export const byHealth = (chain: ReadonlyArray<Target>): ReadonlyArray<Target> =>
  [...chain].sort((a, b) => {
    const left = scoreOf(a)
    const right = scoreOf(b)
    return left === right ? 0 : left > right ? -1 : 1
  })

/** ROUTING F2: trimmed; blanks, repeats and the primary dropped; never more than a chain may hold. */
const normalise = (primary: string, chain: ReadonlyArray<Target>): ReadonlyArray<Target> => {
  const seen = new Set([primary])
  const targets: Array<Target> = []
  for (const entry of chain) {
    const name = entry.name.trim()
    if (name === "" || seen.has(name)) continue
    seen.add(name)
    targets.push(name === entry.name ? entry : { ...entry, name })
    if (targets.length === maxChain) break
  }
  return targets
}

/** The chain as it will be walked: cleaned, then sorted (H4 before H2), then cut (F3). */
export const chainOf = (plan: Plan, primary: string): ReadonlyArray<Target> => {
  if (plan.byo === true || plan.chain.length === 0) return []
  let chain = normalise(primary, plan.chain)
  if (plan.settings.preferHealthyState) chain = byState(chain)
  if (plan.settings.reorderByHealth) chain = byHealth(chain)
  return plan.settings.depthCounts === "listed" ? chain.slice(0, plan.settings.maxDepth) : chain
}
