import { ProviderError } from "@switchgear/providers/Provider"

/** How the reading of a body ended. `Left`: its reader went away. */
export type Ending =
  | { readonly _tag: "Complete" | "Left" | "Unknown" }
  | { readonly _tag: "Failed"; readonly error: ProviderError }

const complete: Ending = { _tag: "Complete" }
const left: Ending = { _tag: "Left" }
const unknown: Ending = { _tag: "Unknown" }

/** Sees a body's chunks as they pass, and once how it ended. A promise it returns is waited for before the reader is told. */
export interface Watcher {
  readonly chunk?: (bytes: Uint8Array) => void
  readonly ended: (ending: Ending) => unknown
}

/** A body that any number of watchers look at, the first to come first, in one layer. Chunks pass untouched. */
export class WatchedBody implements AsyncIterableIterator<Uint8Array, undefined> {
  private readonly inner: AsyncIterator<Uint8Array, unknown>
  private readonly watchers: Array<Watcher> = []
  private readonly seers: Array<(bytes: Uint8Array) => void> = []
  private over: Ending | undefined = undefined

  constructor(body: AsyncIterable<Uint8Array>) {
    this.inner = body[Symbol.asyncIterator]()
  }

  /** One who comes when all is over is told at once. */
  watch(watcher: Watcher): void {
    if (this.over !== undefined) {
      watcher.ended(this.over)
      return
    }
    this.watchers.push(watcher)
    if (watcher.chunk !== undefined) this.seers.push(watcher.chunk)
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    let result: IteratorResult<Uint8Array, unknown>
    try {
      result = await this.inner.next()
    } catch (error) {
      await this.settle(error instanceof ProviderError ? { _tag: "Failed", error } : unknown)
      throw error
    }
    if (result.done !== true) {
      for (const see of this.seers) see(result.value)
      return result
    }
    const told = this.settle(complete)
    if (told !== undefined) await told
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const told = this.settle(left)
    await this.inner.return?.()
    if (told !== undefined) await told
    return { done: true, value: undefined }
  }

  /** Closes what is not finished, without waiting for the upstream: a hung one must not hold up its caller. */
  close(): Promise<unknown> | undefined {
    if (this.over !== undefined) return undefined
    const told = this.settle(left)
    Promise.resolve(this.inner.return?.()).catch(() => undefined)
    return told
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  private settle(ending: Ending): Promise<unknown> | undefined {
    if (this.over !== undefined) return undefined
    this.over = ending
    const pending: Array<Promise<unknown>> = []
    for (const watcher of this.watchers) {
      const told = watcher.ended(ending)
      if (told instanceof Promise) pending.push(told)
    }
    return pending.length === 0 ? undefined : Promise.all(pending)
  }
}
