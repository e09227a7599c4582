import { ProviderError } from "@switchgear/providers/Provider"

/** How the reading of a body ended. `Left`: its reader went away. */
export type Ending =
  | { readonly _tag: "Complete" | "Left" | "Unknown" }
  | { readonly _tag: "Failed"; readonly error: ProviderError }

const complete: Ending = { _tag: "Complete" }
const left: Ending = { _tag: "Left" }
const unknown: Ending = { _tag: "Unknown" }

/** A body that tells once how it ended, whoever reads it. Chunks pass untouched. */
export class WatchedBody implements AsyncIterableIterator<Uint8Array, undefined> {
  private readonly inner: AsyncIterator<Uint8Array, unknown>
  private over = false

  constructor(
    body: AsyncIterable<Uint8Array>,
    private readonly ended: (ending: Ending) => void
  ) {
    this.inner = body[Symbol.asyncIterator]()
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    let result: IteratorResult<Uint8Array, unknown>
    try {
      result = await this.inner.next()
    } catch (error) {
      this.settle(error instanceof ProviderError ? { _tag: "Failed", error } : unknown)
      throw error
    }
    if (result.done !== true) return result
    this.settle(complete)
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.settle(left)
    await this.inner.return?.()
    return { done: true, value: undefined }
  }

  /** Closes what is not finished, without waiting for it: a hung upstream must not hold up its caller. */
  close(): void {
    if (this.over) return
    this.return().catch(() => undefined)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  private settle(ending: Ending): void {
    if (this.over) return
    this.over = true
    this.ended(ending)
  }
}
