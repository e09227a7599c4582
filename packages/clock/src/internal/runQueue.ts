import type { RuntimeFiber } from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"

/** Batches run in one turn of the event loop before sockets and timers of the host get theirs. */
const batchesPerTurn = 2_048

const hostTimer = Scheduler.timer(0)

/** Runs after every microtask that is due, and after those they start. */
export const nextTurn: (task: () => void) => void =
  typeof setImmediate === "function" ? (task) => void setImmediate(task) : (task) => hostTimer.scheduleTask(task, 0)

/**
 * One queue for all fibers, first in, first out. Effect's own scheduler keeps a queue per fiber and, after many turns,
 * goes through a host timer; neither lets a clock see that nothing is left to run.
 */
export class RunQueue implements Scheduler.Scheduler {
  private readonly tasks = new Scheduler.PriorityBuckets()
  private scheduled = false
  private batches = 0

  shouldYield(fiber: RuntimeFiber<unknown, unknown>): number | false {
    return Scheduler.defaultShouldYield(fiber)
  }

  scheduleTask(task: Scheduler.Task, priority: number): void {
    this.tasks.scheduleTask(task, priority)
    this.schedule()
  }

  get idle(): boolean {
    return this.tasks.buckets.length === 0
  }

  /** Runs what is due now and what that makes due; returns whether nothing is left. */
  drain(): boolean {
    while (!this.idle) {
      if (++this.batches > batchesPerTurn) return false
      const batch = this.tasks.buckets
      this.tasks.buckets = []
      for (const [, tasks] of batch) {
        for (const task of tasks) task()
      }
    }
    this.batches = 0
    return true
  }

  /** The same to the end, for one who has taken the host's turn on purpose. */
  drainAll(): void {
    while (!this.idle) this.drain()
    this.batches = 0
  }

  private schedule(): void {
    if (this.scheduled) return
    this.scheduled = true
    if (this.batches > batchesPerTurn) {
      this.batches = 0
      nextTurn(this.run)
    } else {
      void Promise.resolve().then(this.run)
    }
  }

  private readonly run = (): void => {
    this.scheduled = false
    this.drain()
    if (!this.idle) this.schedule()
  }
}
