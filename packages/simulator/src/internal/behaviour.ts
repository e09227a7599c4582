import { type Fault, faultOf } from "./errors.js"
import { type Quantile, quantile } from "./latency.js"
import { type Chance, ofProvider, providerPurpose } from "./random.js"
import type { ErrorKind, Errors, Phase, ProviderScript } from "./scenarioSchema.js"
import { TokenBucket } from "./tokenBucket.js"

/** What happens to one call. */
export interface Behaviour {
  /** ms until its answer; infinite: it never comes. */
  readonly latency: number
  /** Absent: a good answer. */
  readonly fault: Fault | undefined
  /** It met a phase that a breaker should notice. */
  readonly sick: boolean
}

/** A choice by weight. */
const chooser = (errors: Errors): ((u: number) => ErrorKind) => {
  const weighted: Array<{ readonly kind: ErrorKind; readonly upTo: number }> = []
  let total = 0
  const add = (kind: ErrorKind, weight: number | undefined) => {
    if (weight === undefined) return
    total += weight
    weighted.push({ kind, upTo: total })
  }
  add("server_error", errors.server_error)
  add("overloaded", errors.overloaded)
  add("rate_limit", errors.rate_limit)
  add("quota_exhausted", errors.quota_exhausted)
  add("network_error", errors.network_error)
  add("timeout", errors.timeout)
  add("auth", errors.auth)
  add("model_unavailable", errors.model_unavailable)
  add("client_fault", errors.client_fault)
  return (u) => weighted.find(({ upTo }) => u * total < upTo)?.kind ?? "server_error"
}

/** What a phase does to a call; `undefined`: nothing, it is served as in health. */
type Effect = (id: number, now: number) => Omit<Behaviour, "sick"> | undefined

/**
 * A provider as the scenario scripts it. What happens to a call depends on the call and the time at which it arrives, not
 * on the calls before it, but for the token bucket of a rate limit.
 */
export class Script {
  private readonly healthy: Quantile
  private readonly phases: ReadonlyArray<{ readonly phase: Phase; readonly effect: Effect }>
  private readonly noise: ((u: number) => ErrorKind) | undefined
  private readonly errorLatency = quantile({ p50: 120, p95: 400 })

  constructor(
    private readonly provider: ProviderScript,
    private readonly index: number,
    private readonly chance: Chance
  ) {
    this.healthy = quantile(provider.latency)
    this.noise = provider.noise === undefined ? undefined : chooser(provider.noise.errors)
    this.phases = provider.phases.map((phase) => ({ phase, effect: this.effectOf(phase) }))
  }

  private draw(what: number, id: number): number {
    return this.chance(ofProvider(this.index, what), id)
  }

  /** What the call would take in health. */
  healthyLatency(id: number): number {
    return this.healthy(this.draw(providerPurpose.latency, id))
  }

  at(id: number, model: string, now: number): Behaviour {
    for (const { effect, phase } of this.phases) {
      if (now < phase.from || now >= phase.to || !this.concerns(phase, id, model)) continue
      const does = effect(id, now)
      return does === undefined
        ? { latency: this.healthyLatency(id), fault: undefined, sick: phase.sick && phase.kind !== "flapping" }
        : { ...does, sick: phase.sick }
    }
    const { noise } = this.provider
    if (noise !== undefined && this.noise !== undefined && this.draw(providerPurpose.noise, id) < noise.rate) {
      const kind = this.noise(this.draw(providerPurpose.error, id))
      return {
        latency: this.errorLatency(this.draw(providerPurpose.errorLatency, id)),
        fault: faultOf(kind),
        sick: false
      }
    }
    return { latency: this.healthyLatency(id), fault: undefined, sick: false }
  }

  private concerns({ only }: Phase, id: number, model: string): boolean {
    if (only === undefined) return true
    if (only.model !== undefined && only.model !== model) return false
    if (only.host !== undefined && only.host !== this.hostOf(id)) return false
    return only.share === undefined || this.draw(providerPurpose.only, id) < only.share
  }

  /** Calls are spread over the hosts as a resolver does. */
  private hostOf(id: number): string | undefined {
    const { hosts } = this.provider
    return hosts?.[Math.floor(this.draw(providerPurpose.host, id) * hosts.length)]
  }

  private effectOf(phase: Phase): Effect {
    switch (phase.kind) {
      case "outage":
        return this.failing(phase.errors, phase.errorLatency)
      case "brown-out": {
        const fails = this.failing(phase.errors, phase.errorLatency)
        return (id, now) => (this.draw(providerPurpose.fails, id) < phase.errorRate ? fails(id, now) : undefined)
      }
      case "slow": {
        const slow = quantile(phase.latency)
        return (id) => ({ latency: slow(this.draw(providerPurpose.latency, id)), fault: undefined })
      }
      case "hang":
        return () => ({ latency: Number.POSITIVE_INFINITY, fault: undefined })
      case "rate-limit": {
        const bucket = new TokenBucket(phase.perSecond, phase.burst, phase.from)
        const refusal = quantile(phase.errorLatency)
        return (id, now) => {
          const wait = bucket.take(now)
          if (wait === 0) return undefined
          const latency = refusal(this.draw(providerPurpose.errorLatency, id))
          return { latency, fault: faultOf("rate_limit", phase.retryAfter ? wait : undefined) }
        }
      }
      case "quota": {
        const refusal = quantile(phase.errorLatency)
        return (id, now) => ({
          latency: refusal(this.draw(providerPurpose.errorLatency, id)),
          fault: faultOf("quota_exhausted", phase.retryAfter ? phase.to - now : undefined)
        })
      }
      case "flapping": {
        const fails = this.failing(phase.errors, phase.errorLatency)
        return (id, now) => ((now - phase.from) % (phase.down + phase.up) < phase.down ? fails(id, now) : undefined)
      }
      case "bad-key":
        return this.failing({ auth: 1 }, phase.errorLatency)
    }
  }

  private failing(errors: Errors, latency: Parameters<typeof quantile>[0]): Effect {
    const kindOf = chooser(errors)
    const after = quantile(latency)
    return (id) => ({
      latency: after(this.draw(providerPurpose.errorLatency, id)),
      fault: faultOf(kindOf(this.draw(providerPurpose.error, id)))
    })
  }
}
