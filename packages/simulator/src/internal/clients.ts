import type { Served } from "@switchgear/routing/Call"
import type * as Pipeline from "@switchgear/routing/Pipeline"
import type { Rejected } from "@switchgear/routing/Rejected"
import type { RouteError } from "@switchgear/routing/RouteError"
import * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import type { Scenario } from "../Scenario.js"
import type { Agenda } from "./agenda.js"
import type { Arrival } from "./arrivals.js"
import { quantile } from "./latency.js"
import { callHeader, triesPerCall } from "./provider.js"
import { type Chance, purpose } from "./random.js"
import type { Asked, Ending, Tally } from "./tally.js"

/** What a client asks for. */
interface Wanted extends Asked {
  readonly model: string
  readonly body: Uint8Array
  /** ms that a healthy provider would have taken for a call. */
  readonly healthy: (call: number) => number
}

/** One call of a client, its retries included. */
interface Call {
  readonly id: number
  readonly wanted: Wanted
  readonly begunAt: number
  tries: number
}

type Fork = (effect: Effect.Effect<Served, RouteError | Rejected>) => Fiber.RuntimeFiber<Served, RouteError | Rejected>

const encoder = new TextEncoder()

/** ms in which a client is told to come back (ROUTING W2: whole seconds from 1 to 3600). */
const retryAfterOf = (cause: Cause.Cause<RouteError | Rejected>): number | undefined => {
  const error = Option.getOrUndefined(Cause.failureOption(cause))
  if (error?._tag !== "RouteError") return undefined
  const { reason } = error
  const millis =
    reason._tag === "Refused"
      ? reason.retryAfter
      : reason._tag === "Failed"
        ? reason.error.failure.retryAfter
        : undefined
  return millis === undefined ? undefined : Math.min(3_600, Math.max(1, Math.ceil(millis / 1_000))) * 1_000
}

/** Asking again changes nothing about these, and their statuses say so. */
const settled: ReadonlySet<string> = new Set(["client_fault", "model_unavailable", "context_length", "content_filter"])

const isFinal = (cause: Cause.Cause<RouteError | Rejected>): boolean => {
  const error = Option.getOrUndefined(Cause.failureOption(cause))
  if (error?._tag !== "RouteError") return true
  return error.reason._tag === "Failed" && settled.has(error.reason.error.failure.kind)
}

const isRefusal = (cause: Cause.Cause<RouteError | Rejected>): boolean => {
  const error = Option.getOrUndefined(Cause.failureOption(cause))
  return error?._tag === "RouteError" && error.reason._tag === "Refused"
}

type End = (at: number, ending: Ending, retryAfter: number | undefined, final: boolean) => void

/**
 * One try of a client. It stays on the agenda until the client's patience would have ended, long after most are over, so
 * it keeps nothing then.
 */
class Try {
  private fiber: Fiber.RuntimeFiber<Served, RouteError | Rejected> | undefined
  private done: End | undefined

  constructor(done: End) {
    this.done = done
  }

  get over(): boolean {
    return this.done === undefined
  }

  begin(fiber: Fiber.RuntimeFiber<Served, RouteError | Rejected>, now: () => number): void {
    this.fiber = fiber
    fiber.addObserver((exit: Exit.Exit<Served, RouteError | Rejected>) => {
      if (exit._tag === "Success") this.end(now(), exit.value.substituted ? "rescued" : "served", undefined, true)
      else {
        const { cause } = exit
        this.end(now(), isRefusal(cause) ? "rejected" : "failed", retryAfterOf(cause), isFinal(cause))
      }
    })
  }

  leave(at: number, ending: Ending): void {
    const { fiber } = this
    this.end(at, ending, undefined, false)
    fiber?.unsafeInterruptAsFork(FiberId.none)
  }

  private end(at: number, ending: Ending, retryAfter: number | undefined, final: boolean): void {
    const { done } = this
    this.done = undefined
    this.fiber = undefined
    done?.(at, ending, retryAfter, final)
  }
}

/** Those who call: they wait so long, leave, and come back. */
export class Clients {
  private readonly running = new Map<number, Asked>()
  private readonly wanted: ReadonlyArray<Wanted & { readonly upTo: number }>
  private readonly byModel: ReadonlyMap<string, Wanted>
  private readonly abortAfter: ((u: number) => number) | undefined

  constructor(
    private readonly scenario: Scenario,
    private readonly chance: Chance,
    private readonly agenda: Agenda,
    private readonly healthy: (provider: string, call: number) => number
  ) {
    const [first] = scenario.models
    const { abort } = scenario.clients
    this.abortAfter = abort === undefined ? undefined : quantile(abort.after)
    const traffic = scenario.traffic ?? [{ model: first?.name ?? "", share: 1, tokens: { input: 800, output: 300 } }]
    let upTo = 0
    this.wanted = traffic.map(({ model, share, tokens }) => {
      upTo += share
      return { ...this.wantedOf(model, tokens), upTo }
    })
    const tokens = traffic[0]?.tokens ?? { input: 0, output: 0 }
    this.byModel = new Map([
      ...scenario.models.map(({ name }) => [name, this.wantedOf(name, tokens)] as const),
      ...this.wanted.map((wanted) => [wanted.model, wanted] as const)
    ])
  }

  readonly asked = (call: number): Asked | undefined => this.running.get(call)

  private wantedOf(name: string, tokens: Asked["tokens"]): Wanted {
    const model = this.scenario.models.find((one) => one.name === name)
    const provider = model?.provider ?? ""
    return {
      model: name,
      upstream: model?.upstream ?? name,
      provider,
      tokens,
      body: encoder.encode(JSON.stringify({ model: name, messages: [{ role: "user", content: "?" }] })),
      healthy: (call) => this.healthy(provider, call)
    }
  }

  private choose(id: number, model: string | undefined): Wanted | undefined {
    if (model !== undefined) return this.byModel.get(model)
    const [only] = this.wanted
    if (this.wanted.length === 1) return only
    const at = this.chance(purpose.model, id) * (this.wanted.at(-1)?.upTo ?? 0)
    return this.wanted.find(({ upTo }) => at < upTo) ?? only
  }

  /** A call begins. */
  begin(id: number, { model }: Arrival, now: number, world: World): void {
    const wanted = this.choose(id, model)
    if (wanted !== undefined) this.attempt({ id, wanted, begunAt: now, tries: 0 }, now, world)
  }

  private attempt(call: Call, now: number, world: World): void {
    const { wanted } = call
    const id = call.id * triesPerCall + call.tries
    const pipeline = world.pipelines[Math.floor(this.chance(purpose.replica, id) * world.pipelines.length)]
    if (pipeline === undefined) return
    this.running.set(id, wanted)
    world.tally.begun(now)
    const one = new Try((at, ending, retryAfter, final) => {
      this.running.delete(id)
      world.tally.ended(now, ending)
      if (ending === "aborted") return
      if (ending === "served" || ending === "rescued") {
        world.tally.satisfied(at - call.begunAt - wanted.healthy(call.id * triesPerCall))
      } else if (final || !this.again(call, at, retryAfter, world)) world.tally.disappointed()
    })
    const request = {
      model: wanted.model,
      operation: "chat.completions",
      body: wanted.body,
      stream: false,
      headers: { [callHeader]: String(id) }
    } as const
    one.begin(world.fork(pipeline.runUnscoped(request)), world.now)
    if (one.over) return
    const { abort, timeout } = this.scenario.clients
    const leave = (after: number, ending: Ending): void =>
      this.agenda.add(now + after, () => one.leave(now + after, ending))
    const fickle = abort !== undefined && this.chance(purpose.abort, id) < abort.share
    const after = fickle ? this.abortAfter?.(this.chance(purpose.abortAfter, id)) : undefined
    if (after !== undefined && after < timeout) leave(after, "aborted")
    else leave(timeout, "failed")
  }

  /** Whether the client tries once more. */
  private again(call: Call, at: number, retryAfter: number | undefined, world: World): boolean {
    const { retry } = this.scenario.clients
    if (retry === undefined || call.tries >= Math.min(retry.max, triesPerCall - 1)) return false
    const step = Math.min(retry.maxBackoff, retry.backoff * retry.multiplier ** call.tries)
    call.tries++
    const jitter = 1 - retry.jitter * this.chance(purpose.backoff, call.id * triesPerCall + call.tries)
    const asked = retryAfter !== undefined && retryAfter <= retry.maxRetryAfter ? retryAfter : undefined
    const pause = Math.round(asked ?? step * jitter)
    this.agenda.add(at + pause, () => this.attempt(call, at + pause, world))
    return true
  }
}

/** What the clients call into. */
export interface World {
  readonly pipelines: ReadonlyArray<Pipeline.Service>
  readonly tally: Tally
  readonly fork: Fork
  readonly now: () => number
}
