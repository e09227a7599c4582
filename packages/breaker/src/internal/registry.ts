import type { Policy } from "@switchgear/core/Policy"
import type { Clock } from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Store from "../CircuitBreakerStore.js"
import type { RegistryEvent } from "../RegistryEvent.js"
import type { Cell } from "./cell.js"
import { Cells, type CellsOptions } from "./cells.js"
import { Journal, type Loaded } from "./journal.js"
import type { Classify } from "./settings.js"
import { clockOf } from "./time.js"

interface Options {
  readonly policy: Policy
  readonly policies?: Readonly<Record<string, Policy>> | undefined
  readonly enforce?: boolean | undefined
  readonly classify?: Classify | undefined
  readonly bound?: number | undefined
  readonly hardLimit?: number | undefined
  readonly sweepEvery?: Duration.DurationInput | undefined
  readonly idleAfter?: Duration.DurationInput | undefined
}

interface StoredOptions extends Options {
  readonly mode?: "local" | "durable" | ((name: string) => "local" | "durable") | undefined
  readonly writeEvery?: Duration.DurationInput | undefined
}

const cellsOptions = (options: Options, emit: (event: RegistryEvent) => void): CellsOptions => {
  const bound = Math.max(1, options.bound ?? 500)
  return {
    policy: options.policy,
    policies: options.policies,
    enforce: options.enforce,
    classify: options.classify,
    limits: {
      bound,
      hardLimit: Math.max(bound, options.hardLimit ?? 10_000),
      idle: Duration.toMillis(options.idleAfter ?? "30 minutes")
    },
    emit
  }
}

/** One fiber for all of a registry's breakers (STORES, Registry). */
const every = (
  duration: Duration.DurationInput,
  work: Effect.Effect<unknown>
): Effect.Effect<unknown, never, Scope.Scope> =>
  Effect.forkScoped(Effect.forever(Effect.zipRight(Effect.sleep(duration), work)))

const closing = (make: (clock: Clock) => Cells): Effect.Effect<Cells, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.map(Effect.clock, make), (cells) => Effect.sync(() => cells.close()))

const eventsOf = Effect.map(PubSub.sliding<RegistryEvent>(64), (pubsub) => ({
  emit: (event: RegistryEvent): void => void pubsub.unsafeOffer(event),
  events: Stream.fromPubSub(pubsub)
}))

export const local = (
  options: Options
): Effect.Effect<{ readonly cells: Cells; readonly events: Stream.Stream<RegistryEvent> }, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { emit, events } = yield* eventsOf
    const cells = yield* closing((clock) => new Cells(cellsOptions(options, emit), clock))
    yield* every(
      options.sweepEvery ?? "5 minutes",
      Effect.sync(() => cells.sweep())
    )
    return { cells, events }
  })

export const stored = (
  options: StoredOptions,
  store: Store.Service
): Effect.Effect<
  {
    readonly cells: Cells
    readonly events: Stream.Stream<RegistryEvent>
    readonly get: (name: string) => Effect.Effect<Cell>
  },
  never,
  Scope.Scope
> =>
  Effect.gen(function* () {
    const { mode = "durable" } = options
    const isStored = (name: string): boolean => (typeof mode === "string" ? mode : mode(name)) !== "local"
    const { emit, events } = yield* eventsOf
    const clock = yield* Effect.clock
    const writer = (yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)).toString(36)
    /** Names whose records are to go. */
    let gone: Array<string> = []
    const cells: Cells = yield* closing(
      (clock) =>
        new Cells(
          {
            ...cellsOptions(options, emit),
            isStored,
            note: (cell, transitions) => journal.note(cell, transitions),
            forgot: (cell) => {
              if (isStored(cell.name)) gone.push(cell.name)
            }
          },
          clock
        )
    )
    const journal = new Journal(store, writer, clock, emit, (transitions) => cells.hub.deliverAll(transitions))
    const clear = Effect.suspend(() => {
      const names = gone.filter((name) => cells.find(name) === undefined)
      gone = []
      return Effect.forEach(
        names,
        (name) => Effect.map(journal.forget(name), (ok) => (ok ? undefined : gone.push(name))),
        { concurrency: 16, discard: true }
      )
    })
    const write = Effect.suspend(() => journal.tick(Array.from(cells.all()).filter(({ name }) => isStored(name))))
    yield* Effect.addFinalizer(() => Effect.all([journal.flush, write, clear]))
    yield* Effect.forkScoped(journal.run)
    yield* every(options.writeEvery ?? "1 second", Effect.zipRight(write, clear))
    const idle = Duration.toMillis(options.idleAfter ?? "30 minutes")
    const sweep = Effect.suspend(() => {
      cells.sweep()
      return journal.purge(idle, (name) => cells.find(name) !== undefined)
    })
    yield* every(options.sweepEvery ?? "5 minutes", sweep)

    const first = (name: string, loaded: Loaded): Effect.Effect<Cell> =>
      Effect.withFiberRuntime((fiber) => {
        const known = cells.find(name)
        if (known !== undefined) return Effect.succeed(known)
        const cell = cells.get(name, clockOf(fiber))
        if (cells.find(name) === cell) journal.begin(cell, loaded)
        return Effect.succeed(cell)
      })
    const get = (name: string): Effect.Effect<Cell> =>
      isStored(name)
        ? Effect.flatMap(journal.load(name), (loaded) => first(name, loaded))
        : first(name, { _tag: "Nothing" })
    return { cells, events, get }
  })
