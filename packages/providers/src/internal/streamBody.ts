import type { ProviderError } from "../Provider.js"

/** What the body asks of the call it belongs to. */
export interface Source {
  /** The reader keeps up again. */
  readonly resume: () => void
  /** The reader has gone. */
  readonly leave: () => void
}

interface Waiting {
  readonly resolve: (result: IteratorResult<Uint8Array, undefined>) => void
  readonly reject: (error: ProviderError) => void
}

const done: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined }

/** The body of a stream: what is not read yet, and who waits for it. */
export class StreamBody implements AsyncIterableIterator<Uint8Array, undefined> {
  /** Bytes not read yet. */
  size = 0
  private chunks: Array<Uint8Array> = []
  private waiting: Array<Waiting> = []
  private ended = false
  private error: ProviderError | undefined

  constructor(private readonly source: Source) {}

  push(chunk: Uint8Array): void {
    if (this.ended) return
    const reader = this.waiting.shift()
    if (reader !== undefined) {
      reader.resolve({ done: false, value: chunk })
      return
    }
    this.chunks.push(chunk)
    this.size += chunk.length
  }

  /** After what was pushed, the end. */
  end(): void {
    this.ended = true
    for (const reader of this.waiting.splice(0)) reader.resolve(done)
  }

  /** After what was pushed, the failure: once, then the end. */
  fail(error: ProviderError): void {
    if (this.ended) return
    this.ended = true
    const reader = this.waiting.shift()
    if (reader !== undefined) reader.reject(error)
    else this.error = error
    for (const other of this.waiting.splice(0)) other.resolve(done)
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const first = this.chunks[0]
    if (first !== undefined) {
      const value = this.chunks.length === 1 ? first : Buffer.concat(this.chunks)
      this.chunks = []
      this.size = 0
      if (!this.ended) this.source.resume()
      return Promise.resolve({ done: false, value })
    }
    if (this.error !== undefined) {
      const error = this.error
      this.error = undefined
      return Promise.reject(error)
    }
    if (this.ended) return Promise.resolve(done)
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }))
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.ended) this.source.leave()
    this.chunks = []
    this.size = 0
    this.error = undefined
    this.end()
    return Promise.resolve(done)
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
