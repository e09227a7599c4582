import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Row, Service } from "../TelemetryStore.js"
import * as callMetrics from "./callMetrics.js"

export interface WriterOptions {
  readonly store: Service
  /** ms */
  readonly interval: number
  readonly batchSize: number
  readonly capacity: number
}

/**
 * Rows on their way to the store (ROUTING T2). A call puts its row in and goes on; when there are too many the oldest go.
 * Nothing ticks while there is no row.
 */
export class RowWriter {
  dropped = 0
  private buffer: Array<Row> = []
  /** Of the oldest row that is still wanted. */
  private start = 0
  private readonly some = Effect.unsafeMakeLatch(false)
  private readonly full = Effect.unsafeMakeLatch(false)

  constructor(private readonly options: WriterOptions) {}

  private get size(): number {
    return this.buffer.length - this.start
  }

  put(row: Row): void {
    this.buffer.push(row)
    const { size } = this
    if (size > this.options.capacity) this.drop(size - this.options.capacity)
    if (size === 1) this.some.unsafeOpen()
    if (size === this.options.batchSize) this.full.unsafeOpen()
  }

  readonly flush: Effect.Effect<void> = Effect.suspend(() => {
    const rows = this.start === 0 ? this.buffer : this.buffer.slice(this.start)
    this.buffer = []
    this.start = 0
    if (rows.length === 0) return Effect.void
    callMetrics.record(rows)
    return this.write(rows)
  })

  /** Writes what comes until the scope closes, and then what is left. */
  readonly run: Effect.Effect<void, never, Scope.Scope> = Effect.suspend(() => {
    const { interval } = this.options
    const round = Effect.zipRight(
      this.some.await,
      Effect.zipRight(
        Effect.raceFirst(Effect.sleep(interval), this.full.await),
        Effect.suspend(() => {
          this.some.unsafeClose()
          this.full.unsafeClose()
          return this.flush
        })
      )
    )
    return Effect.zipRight(
      Effect.addFinalizer(() => this.flush),
      Effect.asVoid(Effect.forkScoped(Effect.forever(round)))
    )
  })

  /** What the store does not take now it is given again later, before what came meanwhile. */
  private write(rows: ReadonlyArray<Row>): Effect.Effect<void> {
    const { batchSize, store } = this.options
    const from = (at: number): Effect.Effect<void> => {
      if (at >= rows.length) return Effect.void
      return Effect.matchEffect(store.append(rows.slice(at, at + batchSize)), {
        onSuccess: () => from(at + batchSize),
        onFailure: () => Effect.sync(() => this.giveBack(rows.slice(at)))
      })
    }
    return Effect.uninterruptible(from(0))
  }

  private giveBack(rows: ReadonlyArray<Row>): void {
    this.buffer = [...rows, ...this.buffer.slice(this.start)]
    this.start = 0
    if (this.size > this.options.capacity) this.drop(this.size - this.options.capacity)
    this.some.unsafeOpen()
  }

  private drop(count: number): void {
    this.start += count
    this.dropped += count
    callMetrics.dropped.unsafeUpdate(count, [])
    if (this.start > this.options.capacity) {
      this.buffer = this.buffer.slice(this.start)
      this.start = 0
    }
  }
}
