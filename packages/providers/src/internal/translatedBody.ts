import type { ProviderError } from "../Provider.js"
import type { StreamTranslator } from "../Wire.js"

const done: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined }

/**
 * A stream's body in the other dialect: read once, one reader at a time. Leaving it leaves the original at once, even while a
 * read is under way.
 */
export class TranslatedBody implements AsyncIterableIterator<Uint8Array, undefined> {
  private readonly source: AsyncIterator<Uint8Array>
  private over = false
  /** The original has ended, and that was not judged yet. */
  private ended = false

  constructor(
    body: AsyncIterable<Uint8Array>,
    private readonly translator: StreamTranslator,
    /** What a stream fails with that ends well, and yet says no end that could be said. */
    private readonly unreadable: () => ProviderError
  ) {
    this.source = body[Symbol.asyncIterator]()
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (!this.over) {
      const read = await this.read()
      if (this.over) return done
      if (read.done === true) this.over = this.ended = true
      const value = read.done === true ? this.translator.end() : this.translator.push(read.value)
      // What says nothing yet in the other dialect is no chunk of it.
      if (value.length > 0) return { done: false, value }
    }
    if (!this.ended) return done
    this.ended = false
    if (this.translator.complete) return done
    throw this.unreadable()
  }

  private async read(): Promise<IteratorResult<Uint8Array>> {
    try {
      return await this.source.next()
    } catch (error) {
      this.over = true
      throw error
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const left = !this.over
    this.over = true
    this.ended = false
    if (left) await this.source.return?.()
    return done
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
