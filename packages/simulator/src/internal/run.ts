import * as VirtualClock from "@switchgear/clock/VirtualClock"
import type { Policy } from "@switchgear/core/Policy"
import type * as Pipeline from "@switchgear/routing/Pipeline"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Scenario } from "../Scenario.js"
import { Agenda } from "./agenda.js"
import { type Arrival, arrivals } from "./arrivals.js"
import { Script } from "./behaviour.js"
import { Clients, type World } from "./clients.js"
import * as Fleet from "./fleet.js"
import { healthyLatency, simulated } from "./provider.js"
import { chance } from "./random.js"
import { Tally } from "./tally.js"

/** Events between two looks at the host. */
const stride = 2_000

/** One run of a scenario: everything the product does, in the order of its time. */
export class Run {
  /** Calls that clients have begun. */
  calls = 0
  private coming: IteratorResult<Arrival, undefined>
  private now = 0

  constructor(
    private readonly duration: number,
    readonly fleet: Fleet.Fleet,
    readonly tally: Tally,
    private readonly clock: VirtualClock.Service,
    private readonly agenda: Agenda,
    private readonly arriving: Iterator<Arrival, undefined>,
    private readonly clients: Clients,
    private readonly world: World,
    /** Reads what the product says of itself, at the run's own time. */
    readonly look: <A>(effect: Effect.Effect<A>) => A
  ) {
    this.coming = arriving.next()
  }

  /** Does something when the run comes to this time, before the calls that begin then. */
  at(time: number, act: () => void): void {
    this.agenda.add(time, act)
  }

  /** How far it has come, from 0 to 1. */
  get progress(): number {
    return Math.min(1, this.now / this.duration)
  }

  /** Goes on for a while; whether anything is left. */
  step(): boolean {
    // A refusal is an answer here, as common as a success: where it was made is of no interest, and costs most of it.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    try {
      return this.advance()
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
  }

  private advance(): boolean {
    for (let events = 0; events < stride; events++) {
      const { coming } = this
      const arrival = coming.done === true ? Number.POSITIVE_INFINITY : coming.value.at
      const next = Math.min(arrival, this.agenda.next)
      if (next === Number.POSITIVE_INFINITY) return false
      if (next > this.now) {
        this.clock.unsafeAdvance(next - this.now)
        this.now = next
      }
      if (this.agenda.next <= next) this.agenda.take()?.()
      else if (coming.done !== true) {
        this.clients.begin(this.calls++, coming.value, next, this.world)
        this.coming = this.arriving.next()
      }
    }
    return true
  }
}

/** A run about to begin. `policy` `undefined`: no breakers. */
export const make = (
  scenario: Scenario,
  policy: Policy | undefined,
  seed: number
): Effect.Effect<Run, Pipeline.PipelineConfigError, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = VirtualClock.make({ manual: true })
    const fate = chance(seed)
    const agenda = new Agenda()
    const scripts = new Map(
      scenario.providers.map((provider, index) => [provider.name, new Script(provider, index, fate)])
    )
    const healthy = (provider: string, call: number): number => {
      const script = scripts.get(provider)
      return script === undefined ? 0 : healthyLatency(script, call)
    }
    const clients = new Clients(scenario, fate, agenda, healthy)
    const owner = Fleet.owners(scenario)
    const tally = new Tally(scenario, clients.asked, owner)
    const providers = scenario.providers.flatMap((config, index) => {
      const script = scripts.get(config.name)
      return script === undefined ? [] : [simulated(config, index, script, clock, tally)]
    })
    const begin = Effect.gen(function* () {
      const fleet = yield* Fleet.make(scenario, policy, providers)
      for (const [replica, registry] of fleet.registries.entries()) {
        const heard = Stream.runForEach(registry.changes, ({ at, breaker, from, reason, to }) =>
          Effect.sync(() => {
            if (at > scenario.duration) return
            tally.transitions.push({ at, provider: owner.get(breaker) ?? breaker, breaker, replica, from, to, reason })
          })
        )
        yield* Effect.forkScoped(heard)
      }
      return { fleet, runtime: yield* Effect.runtime<never>() }
    })
    const { fleet, runtime } = yield* begin.pipe(Effect.withRandom(Random.make(seed)), VirtualClock.withClock(clock))
    const world: World = {
      pipelines: fleet.pipelines,
      tally,
      fork: Runtime.runFork(runtime),
      now: () => clock.unsafeCurrentTimeMillis()
    }
    // those who listen are there before the first call
    clock.unsafeAdvance(0)
    const arriving = arrivals(scenario.arrivals, scenario.duration, fate)
    return new Run(scenario.duration, fleet, tally, clock, agenda, arriving, clients, world, Runtime.runSync(runtime))
  })
