import type { StreamTranslator } from "../Wire.js"

const done: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined }

/**
 * A stream's body in the other dialect: read once, one reader at a time. Leaving it leaves the original at once, even while a
 * read is under way.
 */
export class TranslatedBody implements AsyncIterableIterator<Uint8Array, undefined> {
  private readonly source: AsyncIterator<Uint8Array>
  private over = false

  constructor(
    body: AsyncIterable<Uint8Array>,
    private readonly translator: StreamTranslator
  ) {
    this.source = body[Symbol.asyncIterator]()
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (!this.over) {
      const read = await this.read()
      if (this.over) return done
      if (read.done === true) this.over = true
      const value = read.done === true ? this.translator.end() : this.translator.push(read.value)
      // What says nothing yet in the other dialect is no chunk of it.
      if (value.length > 0) return { done: false, value }
    }
    return done
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
    if (left) await this.source.return?.()
    return done
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
