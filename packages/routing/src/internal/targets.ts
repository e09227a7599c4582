import type { Fault } from "@switchgear/core/Fallback"
import * as Fallback from "@switchgear/core/Fallback"
import type * as Walk from "@switchgear/core/Walk"
import type { Provider } from "@switchgear/providers/Provider"
import type { Gate } from "./gate.js"
import { encodeString } from "./jsonBytes.js"

/** A provider and how many calls of it are running. */
export interface Slot {
  readonly provider: Provider
  readonly maxConcurrent: number
  running: number
}

/** A model and all that a call of it needs. */
export interface Route {
  readonly name: string
  readonly upstream: string
  /** `upstream` as JSON bytes. */
  readonly upstreamJson: Uint8Array
  readonly slot: Slot
  readonly gates: ReadonlyArray<Gate>
  /** As the walk knows it. */
  readonly target: Walk.Target
  readonly chain: ReadonlyArray<Walk.Target>
}

export interface ModelInput {
  readonly name: string
  readonly provider: string
  readonly upstream?: string | undefined
  readonly fallbackChain?: ReadonlyArray<string> | undefined
  readonly contextWindow?: number | undefined
}

const list = (names: Iterable<string>): string => {
  const all = [...names]
  return all.length === 0 ? "none" : all.map((name) => `"${name}"`).join(", ")
}

/** ROUTING F11: all that does not fit together, at once. */
export const check = (
  providers: ReadonlyArray<{ readonly provider: Provider; readonly maxConcurrent?: number | undefined }>,
  models: ReadonlyArray<ModelInput>
): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = []
  const providerNames = new Set<string>()
  for (const [index, { maxConcurrent, provider }] of providers.entries()) {
    if (providerNames.has(provider.name)) {
      faults.push({ path: `providers.${index}`, message: `a second provider "${provider.name}": give it another name` })
    }
    providerNames.add(provider.name)
    if (maxConcurrent !== undefined && !(Number.isSafeInteger(maxConcurrent) && maxConcurrent >= 1)) {
      const message = `must be a whole number of calls, at least 1, got ${maxConcurrent}`
      faults.push({ path: `providers.${index}.maxConcurrent`, message })
    }
  }
  const modelNames = new Set<string>()
  for (const [index, { contextWindow, name, provider }] of models.entries()) {
    const path = `models.${index}`
    if (name.trim() === "" || name !== name.trim()) {
      faults.push({ path: `${path}.name`, message: "must be a name without spaces around it" })
    }
    if (modelNames.has(name)) faults.push({ path, message: `a second model "${name}": give it another name` })
    modelNames.add(name)
    if (!providerNames.has(provider)) {
      const message = `there is no provider "${provider}"; there are ${list(providerNames)}`
      faults.push({ path: `${path}.provider`, message })
    }
    if (contextWindow !== undefined && !(Number.isSafeInteger(contextWindow) && contextWindow >= 1)) {
      const message = `must be a whole number of tokens, at least 1, got ${contextWindow}`
      faults.push({ path: `${path}.contextWindow`, message })
    }
  }
  for (const [index, { fallbackChain }] of models.entries()) {
    const path = `models.${index}.fallbackChain`
    const decoded = Fallback.decodeChain(fallbackChain ?? [])
    if (decoded._tag === "Failure") {
      for (const fault of decoded.faults) {
        faults.push({ path: fault.path === "" ? path : `${path}.${fault.path}`, message: fault.message })
      }
      continue
    }
    for (const [at, entry] of (fallbackChain ?? []).entries()) {
      const name = entry.trim()
      if (name !== "" && !modelNames.has(name)) {
        faults.push({ path: `${path}.${at}`, message: `there is no model "${name}"; there are ${list(modelNames)}` })
      }
    }
  }
  return faults
}

/** What two names of the same (provider, model) pair have in common: a walk calls neither twice (ROUTING F12). */
const pairOf = (route: { readonly slot: Slot; readonly upstream: string }): string =>
  JSON.stringify([route.slot.provider.name, route.upstream])

/** The targets that names stand for, without those that are the primary, or an earlier one, by another name. */
export const chainTargets = (
  primary: Route | Bare,
  names: ReadonlyArray<string>,
  routes: ReadonlyMap<string, Bare>
): ReadonlyArray<Walk.Target> => {
  const seen = new Set([pairOf(primary)])
  const chain: Array<Walk.Target> = []
  for (const entry of names) {
    const name = entry.trim()
    const route = routes.get(name)
    if (route === undefined) {
      chain.push({ name })
      continue
    }
    const pair = pairOf(route)
    if (seen.has(pair)) continue
    seen.add(pair)
    chain.push(route.target)
  }
  return chain
}

type Bare = Pick<Route, "name" | "upstream" | "upstreamJson" | "slot" | "gates" | "target">

/** The routes by model's name. What is given was checked. */
export const build = (
  slots: ReadonlyMap<string, Slot>,
  models: ReadonlyArray<ModelInput>,
  gatesOf: (provider: string, model: string) => ReadonlyArray<Gate>
): ReadonlyMap<string, Route> => {
  const bare = new Map<string, Bare>()
  for (const { contextWindow, name, provider, upstream = name } of models) {
    const slot = slots.get(provider)
    if (slot === undefined) continue
    const target = contextWindow === undefined ? { name } : { name, contextWindow }
    bare.set(name, {
      name,
      upstream,
      upstreamJson: encodeString(upstream),
      slot,
      gates: gatesOf(provider, name),
      target
    })
  }
  const routes = new Map<string, Route>()
  for (const model of models) {
    const route = bare.get(model.name)
    if (route === undefined) continue
    routes.set(model.name, { ...route, chain: chainTargets(route, model.fallbackChain ?? [], bare) })
  }
  return routes
}
