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
import { Cell } from "./cell.js"
import { Cells, type CellsOptions } from "./cells.js"
import { Fleet } from "./fleet.js"
import { Journal } from "./journal.js"
import { Reach } from "./reach.js"
import type { Classify } from "./settings.js"
import { SharedCell } from "./shared.js"
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

type Mode = "local" | "durable" | "shared"

interface StoredOptions extends Options {
  readonly mode?: Mode | ((name: string) => Mode) | undefined
  readonly writeEvery?: Duration.DurationInput | undefined
  readonly onStoreFailure?: "local" | "closed" | undefined
  readonly pollInterval?: Duration.DurationInput | undefined
  readonly storeWait?: Duration.DurationInput | undefined
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
    const modeOf = (name: string): Mode => (typeof mode === "string" ? mode : mode(name))
    const isDurable = (name: string): boolean => modeOf(name) === "durable"
    const { emit, events } = yield* eventsOf
    const clock = yield* Effect.clock
    const writer = (yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)).toString(36)
    const reach = yield* Effect.acquireRelease(
      Effect.sync(() => new Reach(clock, emit)),
      (reach) => Effect.sync(() => reach.close())
    )
    /** Names whose records are to go. */
    let gone: Array<string> = []
    const cells: Cells = yield* closing(
      (clock) =>
        new Cells(
          {
            ...cellsOptions(options, emit),
            isNoted: isDurable,
            note: (cell, transitions) => journal.note(cell, transitions),
            make: (name, settings, now) =>
              modeOf(name) === "shared" ? new SharedCell(name, settings, now, fleet) : new Cell(name, settings, now),
            // What is shared may be in use elsewhere: its record goes when nobody has written it for long.
            forgot: (cell) => {
              if (isDurable(cell.name)) gone.push(cell.name)
            }
          },
          clock
        )
    )
    const journal = new Journal(store, writer, clock, reach, (transitions) => cells.hub.deliverAll(transitions))
    const fleet = new Fleet({
      store,
      writer,
      clock,
      reach,
      closed: options.onStoreFailure === "closed",
      pollInterval: Duration.toMillis(options.pollInterval ?? "1 second"),
      wait: Duration.toMillis(options.storeWait ?? "250 millis"),
      find: (name) => {
        const cell = cells.held(name)
        return cell instanceof SharedCell ? cell : undefined
      },
      all: () => cells.allHeld().filter((cell) => cell instanceof SharedCell)
    })
    const clear = Effect.suspend(() => {
      const names = gone.filter((name) => cells.find(name) === undefined)
      gone = []
      return Effect.forEach(
        names,
        (name) => Effect.map(journal.forget(name), (ok) => (ok ? undefined : gone.push(name))),
        { concurrency: 16, discard: true }
      )
    })
    const write = Effect.suspend(() => journal.tick(Array.from(cells.all()).filter(({ name }) => isDurable(name))))
    yield* Effect.addFinalizer(() => Effect.all([journal.flush, fleet.flush, write, clear]))
    yield* Effect.forkScoped(journal.run)
    yield* Effect.forkScoped(fleet.run)
    yield* Effect.forkScoped(fleet.listen)
    yield* every(fleet.pollInterval, fleet.poll)
    yield* every(options.writeEvery ?? "1 second", Effect.zipRight(write, clear))
    const idle = Duration.toMillis(options.idleAfter ?? "30 minutes")
    const sweep = Effect.suspend(() => {
      cells.sweep()
      return journal.purge(idle, (name) => cells.held(name) !== undefined)
    })
    yield* every(options.sweepEvery ?? "5 minutes", sweep)

    /** The breaker of a name, begun from what was read of it if it is made now. */
    const first = (name: string, begin: (cell: Cell) => void): Effect.Effect<Cell> =>
      Effect.withFiberRuntime((fiber) => {
        const known = cells.find(name)
        if (known !== undefined) return Effect.succeed(known)
        const cell = cells.get(name, clockOf(fiber))
        if (cells.find(name) === cell) begin(cell)
        return Effect.succeed(cell)
      })
    const get = (name: string): Effect.Effect<Cell> => {
      switch (modeOf(name)) {
        case "local":
          return first(name, () => {})
        case "durable":
          return Effect.flatMap(journal.load(name), (loaded) => first(name, (cell) => journal.begin(cell, loaded)))
        case "shared":
          return Effect.flatMap(fleet.load(name), (seen) =>
            first(name, (cell) => {
              if (cell instanceof SharedCell) fleet.begin(cell, seen)
            })
          )
      }
    }
    return { cells, events, get }
  })
