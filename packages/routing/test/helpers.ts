import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Breaker from "@switchgear/core/Breaker"
import * as Fallback from "@switchgear/core/Fallback"
import * as Policy from "@switchgear/core/Policy"
import type { Scope as FailureScope, Kind } from "@switchgear/failures/Failure"
import type { Answer, Provider, ProviderRequest } from "@switchgear/providers/Provider"
import { ProviderError } from "@switchgear/providers/Provider"
import type { RouteError } from "@switchgear/routing/RouteError"
import * as Router from "@switchgear/routing/Router"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"

export const failing = (
  kind: Kind,
  options: { readonly status?: number; readonly retryAfter?: number; readonly scope?: FailureScope } = {}
): ProviderError => {
  const { scope = "provider", ...rest } = options
  return new ProviderError({ provider: "test", failure: { kind, scope, message: kind, ...rest } })
}

/** How a scripted stream goes on after its first output. */
export type Tail = "ends" | "breaks" | "hangs"

/** What a provider does with one call; `yields` is how long it takes. */
export type Behaviour =
  | { readonly does: "json"; readonly yields: number }
  | { readonly does: "stream"; readonly yields: number; readonly chunks: number; readonly tail: Tail }
  | { readonly does: "fail"; readonly yields: number; readonly error: ProviderError }
  | { readonly does: "hang" }
  | { readonly does: "die" }

export const json: Behaviour = { does: "json", yields: 0 }
export const fail = (...args: Parameters<typeof failing>): Behaviour => ({
  does: "fail",
  yields: 0,
  error: failing(...args)
})

/** A provider that keeps book of its calls and of the streams nobody has ended or closed. */
export class FakeProvider implements Provider {
  readonly requests: Array<ProviderRequest> = []
  running = 0
  interrupted = 0
  openBodies = 0
  /** Runs when a call arrives. */
  onCall: (request: ProviderRequest) => void = () => undefined

  constructor(
    readonly name: string,
    private readonly behave: (request: ProviderRequest, index: number) => Behaviour
  ) {}

  readonly call = (request: ProviderRequest): Effect.Effect<Answer, ProviderError> =>
    Effect.suspend(() => {
      const behaviour = this.behave(request, this.requests.length)
      this.requests.push(request)
      this.onCall(request)
      this.running++
      return Effect.onExit(this.play(request, behaviour), (exit) =>
        Effect.sync(() => {
          this.running--
          if (exit._tag === "Failure" && exit.cause._tag !== "Fail") this.interrupted++
        })
      )
    })

  private play(request: ProviderRequest, behaviour: Behaviour): Effect.Effect<Answer, ProviderError> {
    if (behaviour.does === "hang") return Effect.never
    if (behaviour.does === "die") return Effect.die("a bug in a provider")
    const wait = Effect.replicateEffect(Effect.yieldNow(), behaviour.yields, { discard: true })
    if (behaviour.does === "fail") return Effect.zipRight(wait, Effect.fail(behaviour.error))
    return Effect.map(
      wait,
      (): Answer =>
        behaviour.does === "json" || !request.stream
          ? { _tag: "Json", status: 200, headers: {}, body: request.body }
          : { _tag: "Stream", status: 200, headers: {}, body: this.body(behaviour.chunks, behaviour.tail) }
    )
  }

  private body(chunks: number, tail: Tail): AsyncIterable<Uint8Array> {
    this.openBodies++
    let left = chunks
    let open = true
    const close = () => {
      if (open) this.openBodies--
      open = false
    }
    const end = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
      close()
      return { done: true, value: undefined }
    }
    const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
      if (left-- > 0) return { done: false, value: new Uint8Array([1]) }
      if (tail === "hangs" && open) return new Promise(() => undefined)
      if (tail === "ends" || !open) return end()
      close()
      throw failing("network_error", { scope: "host" })
    }
    return { [Symbol.asyncIterator]: () => ({ next, return: end }) }
  }
}

/** A provider that does the same, or these in turn and the last for ever. */
export const provider = (name: string, ...behaviours: ReadonlyArray<Behaviour>): FakeProvider =>
  new FakeProvider(name, (_, index) => behaviours[Math.min(index, behaviours.length - 1)] ?? json)

export const breakerOf = (name: string, policy = Policy.consecutive({ failureThreshold: 1_000 })) =>
  CircuitBreaker.make({ name, policy })

export const request = (over: Partial<Router.Request> = {}): Router.Request => ({
  model: "m0",
  operation: "chat.completions",
  body: new TextEncoder().encode(`{"model":"m0","messages":[]}`),
  stream: false,
  headers: {},
  ...over
})

/** Model `m0` on the first provider, `m1` on the second, and so on; the first falls back on all the others. */
export const setup = (
  providers: ReadonlyArray<FakeProvider>,
  options: {
    readonly fallback?: Fallback.Settings
    readonly policy?: Policy.Policy
    readonly maxConcurrent?: number
  } = {}
) =>
  Effect.gen(function* () {
    const breakers: Array<CircuitBreaker.CircuitBreaker> = []
    for (const one of providers) breakers.push(yield* breakerOf(one.name, options.policy))
    const router = yield* Router.make({
      providers: providers.flatMap((provider, index) => {
        const breaker = breakers[index]
        return breaker === undefined ? [] : [{ provider, breaker, maxConcurrent: options.maxConcurrent }]
      }),
      models: providers.map((one, index) => ({
        name: `m${index}`,
        provider: one.name,
        upstream: `up${index}`,
        fallbackChain: index === 0 ? providers.slice(1).map((_, at) => `m${at + 1}`) : []
      })),
      fallback: options.fallback ?? Fallback.make({ budget: 1 })
    })
    return { router, breakers }
  })

export const readAll = async (answer: Answer): Promise<number> => {
  if (answer._tag === "Json") return answer.body.length
  let size = 0
  for await (const chunk of answer.body) size += chunk.length
  return size
}

export const asked = (fake: FakeProvider): number => fake.requests.length

export const failed = (result: Either.Either<Router.Routed, RouteError>): RouteError => {
  if (Either.isLeft(result)) return result.left
  throw new Error("it was served")
}

export const oneFailure = Policy.consecutive({ failureThreshold: 1, cooldown: { base: "30 seconds" } })

/** One failure of a call that was admitted. */
export const trip = (breaker: CircuitBreaker.CircuitBreaker, kind = "timeout") =>
  Effect.flatMap(Effect.orDie(CircuitBreaker.unsafeAcquire(breaker)), CircuitBreaker.report(Breaker.failure(kind)))
