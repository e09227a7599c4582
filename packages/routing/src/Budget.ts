/**
 * What an organisation may spend in a window of time (ROUTING S3). Off unless the stage is in the list.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { Call, Served } from "./Call.js"
import * as glob from "./internal/glob.js"
import { clockOf } from "./internal/time.js"
import { watch } from "./internal/watch.js"
import { Rejected } from "./Rejected.js"
import { make as makeStage, priorities, type Stage } from "./Stage.js"
import type { StoreError } from "./StoreError.js"

/**
 * What is spent, or to be charged.
 *
 * @since 0.1.0
 * @category models
 */
export interface Amount {
  readonly tokens: number
  readonly usd: number
}

/**
 * What was spent in the window that runs now.
 *
 * @since 0.1.0
 * @category models
 */
export interface Spent extends Amount {
  /** ms until the next window begins. */
  readonly left: number
}

/**
 * The port. Windows are of equal length, counted from the store's epoch: a day's begins at midnight UTC. Every method
 * answers within a bounded time, or fails with `StoreError`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** `window` in ms. */
  readonly spent: (org: string, window: number) => Effect.Effect<Spent, StoreError>
  readonly charge: (org: string, window: number, amount: Amount) => Effect.Effect<void, StoreError>
}

/**
 * The budgets in force.
 *
 * @since 0.1.0
 * @category tags
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Budget from "@switchgear/routing/Budget"
 * import * as Effect from "effect/Effect"
 *
 * const spent = Effect.flatMap(Budget.Budgets, (budgets) => budgets.spent("acme", 60_000))
 * assert.strictEqual(Effect.runSync(Effect.provide(spent, Budget.layerMemory())).usd, 0)
 * ```
 */
export class Budgets extends Context.Tag("@switchgear/routing/Budgets")<Budgets, Service>() {}

/**
 * Budgets in memory: what is spent is forgotten with the process.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Budget from "@switchgear/routing/Budget"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const budgets = yield* Budget.makeMemory
 *   yield* budgets.charge("acme", 3_600_000, { tokens: 10, usd: 0.5 })
 *   return yield* budgets.spent("acme", 3_600_000)
 * })
 * assert.strictEqual(Effect.runSync(program).tokens, 10)
 * ```
 */
export const makeMemory: Effect.Effect<Service> = Effect.sync(() => {
  const windows = new Map<string, Amount & { readonly index: number; readonly window: number }>()
  const now = <A>(f: (now: number) => A): Effect.Effect<A> =>
    Effect.withFiberRuntime((fiber) => Effect.succeed(f(clockOf(fiber).unsafeCurrentTimeMillis())))
  /** Windows that are over say nothing any more. */
  const sweep = (time: number) => {
    if (windows.size < 10_000) return
    for (const [key, { index, window }] of windows) if (index !== Math.floor(time / window)) windows.delete(key)
  }
  const find = (org: string, window: number, time: number) => {
    const found = windows.get(JSON.stringify([org, window]))
    return found?.index === Math.floor(time / window) ? found : undefined
  }
  return {
    spent: (org, window) =>
      now((time) => {
        const { tokens = 0, usd = 0 } = find(org, window, time) ?? {}
        return { tokens, usd, left: window - (time % window) }
      }),
    charge: (org, window, amount) =>
      now((time) => {
        const { tokens = 0, usd = 0 } = find(org, window, time) ?? {}
        sweep(time)
        windows.set(JSON.stringify([org, window]), {
          index: Math.floor(time / window),
          window,
          tokens: tokens + amount.tokens,
          usd: usd + amount.usd
        })
      })
  }
})

/**
 * {@link makeMemory} as a layer.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Budget from "@switchgear/routing/Budget"
 * import * as Effect from "effect/Effect"
 *
 * const spent = Effect.flatMap(Budget.Budgets, (budgets) => budgets.spent("acme", 60_000))
 * assert.strictEqual(Effect.runSync(Effect.provide(spent, Budget.layerMemory())).tokens, 0)
 * ```
 */
export const layerMemory = (): Layer.Layer<Budgets> => Layer.effect(Budgets, makeMemory)

/**
 * What organisations may spend. In `org`, `*` stands for any characters and `?` for one; each organisation has a budget
 * of its own. All limits that match hold.
 *
 * @since 0.1.0
 * @category models
 */
export interface Limit {
  readonly org: string
  readonly window: Duration.DurationInput
  readonly tokens?: number | undefined
  readonly usd?: number | undefined
}

/**
 * How the stage is made.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly store: Service
  readonly limits: ReadonlyArray<Limit>
  /** `open` (default): the call runs and telemetry notes `budget_unavailable`. `closed`: 503. */
  readonly onStoreFailure?: "open" | "closed" | undefined
}

interface Compiled {
  readonly fits: (org: string) => boolean
  readonly window: number
  readonly tokens: number
  readonly usd: number
}

const compile = ({ org, tokens, usd, window }: Limit): Compiled => ({
  fits: glob.compile(org),
  window: Duration.toMillis(window),
  tokens: tokens ?? Number.POSITIVE_INFINITY,
  usd: usd ?? Number.POSITIVE_INFINITY
})

const exceeded = ({ left }: Spent): Rejected =>
  new Rejected({
    stage: "budget",
    status: 402,
    code: "budget_exceeded",
    message: "The budget of this organisation is spent.",
    retryAfter: left
  })

const unavailable = new Rejected({
  stage: "budget",
  status: 503,
  code: "budget_unavailable",
  message: "What this organisation has spent cannot be said now; try again."
})

/**
 * The Budget stage: over a limit the call is `Rejected` with 402 `budget_exceeded` before anything is called, with the
 * time until the next window; what was served is charged by what Usage found. Calls that run at the same time may
 * together go over it. A model without a price costs nothing in USD. A caller's own credentials have no budget.
 *
 * @since 0.1.0
 * @category stages
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Budget from "@switchgear/routing/Budget"
 * import * as Effect from "effect/Effect"
 *
 * const store = Effect.runSync(Budget.makeMemory)
 * const stage = Budget.stage({ store, limits: [{ org: "acme", window: "1 day", usd: 50 }] })
 * assert.strictEqual(stage.priority, 75)
 * ```
 */
export const stage = (options: Options): Stage => {
  const { onStoreFailure = "open", store } = options
  const limits = options.limits.map(compile)
  const fail = (call: Call): Effect.Effect<void, Rejected> => {
    call.journal.note("budget_unavailable")
    return onStoreFailure === "open" ? Effect.void : Effect.fail(unavailable)
  }
  const check = (call: Call, limit: Compiled): Effect.Effect<void, Rejected> =>
    Effect.matchEffect(store.spent(call.org, limit.window), {
      onFailure: () => fail(call),
      onSuccess: (spent) =>
        spent.tokens >= limit.tokens || spent.usd >= limit.usd ? Effect.fail(exceeded(spent)) : Effect.void
    })
  const charge = (call: Call, windows: ReadonlyArray<number>): Effect.Effect<void> => {
    const { tokens } = call.journal
    if (tokens === undefined) return Effect.void
    const amount = { tokens: tokens.input + tokens.output, usd: tokens.cost ?? 0 }
    return each(windows, (window) =>
      Effect.catchAll(store.charge(call.org, window, amount), () =>
        Effect.sync(() => call.journal.note("budget_unavailable"))
      )
    )
  }
  const charged = (call: Call, windows: ReadonlyArray<number>, served: Served) => {
    const { answer } = served
    if (answer._tag === "Json") return Effect.as(charge(call, windows), served)
    return Effect.flatMap(Effect.runtime<never>(), (runtime) => {
      // what was received was paid for, whether the stream came to its end or not
      const ended = () => Runtime.runPromise(runtime, charge(call, windows))
      return Effect.succeed({ ...served, answer: watch(answer, { ended }) })
    })
  }
  return makeStage(
    "budget",
    priorities.budget,
    (next) => (call) => {
      if (call.byo) return next(call)
      const own = limits.filter(({ fits }) => fits(call.org))
      if (own.length === 0) return next(call)
      const windows = own.length === 1 ? own.map(windowOf) : [...new Set(own.map(windowOf))]
      const checked = each(own, (limit) => check(call, limit))
      return Effect.zipRight(
        checked,
        Effect.flatMap(next(call), (served) => charged(call, windows, served))
      )
    },
    {
      check: ({ stages }) => [
        ...(stages.some(({ name }) => name === "usage")
          ? []
          : [{ path: "stages.budget", message: "charges what Usage finds: put Usage.stage() into the list" }]),
        ...options.limits.flatMap((limit, index) => faultsOf(limit, `stages.budget.limits.${index}`))
      ]
    }
  )
}

const windowOf = ({ window }: Compiled): number => window

/** One is what there mostly is, and costs no loop. */
const each = <A, E>(all: ReadonlyArray<A>, f: (one: A) => Effect.Effect<void, E>): Effect.Effect<void, E> => {
  const [only] = all
  return only !== undefined && all.length === 1 ? f(only) : Effect.forEach(all, f, { discard: true })
}

const faultsOf = ({ tokens, usd, window }: Limit, path: string) => {
  const faults: Array<{ readonly path: string; readonly message: string }> = []
  const ms = Duration.toMillis(window)
  if (!(Number.isFinite(ms) && ms > 0)) faults.push({ path: `${path}.window`, message: "must be a time above 0" })
  if (tokens === undefined && usd === undefined) {
    faults.push({ path, message: "limits nothing: give it tokens or usd" })
  }
  for (const [key, value] of Object.entries({ tokens, usd })) {
    if (value !== undefined && !(value >= 0)) {
      faults.push({ path: `${path}.${key}`, message: `must be 0 or more, got ${value}` })
    }
  }
  return faults
}
