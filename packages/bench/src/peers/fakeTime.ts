interface Timer {
  readonly id: number
  due: number
  readonly every: number | undefined
  readonly run: () => void
}

/** Node's own rule: a delay that does not fit 32 bits is one ms. */
const delayOf = (ms: number | undefined): number => (ms !== undefined && ms >= 1 && ms <= 2_147_483_647 ? ms : 1)

/** A whole number of every bucket that the traces use, so that their times keep their place in a bucket. */
const epoch = 1_767_268_800_000

const real = {
  Date: globalThis.Date,
  performance: globalThis.performance,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate
}

/**
 * Time that only moves when a trace says so. The wall clock follows the trace, backwards too, as a wall clock may;
 * timers and `performance.now` run on a monotonic one, which then stands still.
 */
export class FakeTime {
  private wall: number
  private monotonic = 0
  private nextId = 1
  private readonly timers = new Map<number, Timer>()
  private readonly origin: number

  constructor(first: number) {
    // far origins are shifted (SEMANTICS T1): no library promises dates outside those of Date
    this.origin = Math.floor(first / 100_000) * 100_000
    this.wall = epoch + first - this.origin
  }

  /** ms since 1970. */
  now(): number {
    return this.wall
  }

  /** A wall time as the trace writes it. */
  toTrace(wall: number): number {
    return wall - epoch + this.origin
  }

  /** Moves to a time of the trace; timers that come due run on the way, in order, each at its own time. */
  set(at: number): void {
    const target = epoch + at - this.origin
    const end = this.monotonic + Math.max(0, target - this.wall)
    const offset = target - end
    for (let timer = this.next(end); timer !== undefined; timer = this.next(end)) {
      this.monotonic = Math.max(this.monotonic, timer.due)
      this.wall = this.monotonic + offset
      if (timer.every === undefined) this.timers.delete(timer.id)
      else timer.due += timer.every
      timer.run()
    }
    this.monotonic = end
    this.wall = target
  }

  private next(end: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.timers.values()) {
      if (timer.due <= end && (first === undefined || timer.due < first.due)) first = timer
    }
    return first
  }

  private add(run: () => void, ms: number | undefined, repeats: boolean): object {
    const id = this.nextId++
    const delay = delayOf(ms)
    this.timers.set(id, { id, due: this.monotonic + delay, every: repeats ? delay : undefined, run })
    const handle = { ref: () => handle, unref: () => handle, hasRef: () => false, [Symbol.toPrimitive]: () => id }
    return handle
  }

  private readonly remove = (handle: unknown): void => {
    if (handle !== undefined && handle !== null) this.timers.delete(Number(handle))
  }

  /** Puts this time in the place of the platform's. Code that read the clock at its import is not reached. */
  install(): void {
    const time = this
    class FakeDate extends real.Date {
      constructor(...given: ReadonlyArray<unknown>) {
        if (given.length === 0) super(time.wall)
        else super(...(given as [number]))
      }
      static override now(): number {
        return time.wall
      }
    }
    Object.assign(globalThis, {
      Date: FakeDate,
      performance: { now: () => this.monotonic },
      setTimeout: (run: () => void, ms?: number) => this.add(run, ms, false),
      setInterval: (run: () => void, ms?: number) => this.add(run, ms, true),
      clearTimeout: this.remove,
      clearInterval: this.remove
    })
  }

  uninstall(): void {
    Object.assign(globalThis, real)
    this.timers.clear()
  }
}

/** Lets every promise that can settle do so. */
export const flush = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resume) => real.setImmediate(() => resume()))
}
