const LF = 10
const CR = 13

/**
 * Where the last complete block of an event stream ends: after its blank line. -1 if none does. Lines may end in LF, CR
 * or CR LF, and mix; a blank line is two ends in a row.
 */
export const lastEnd = (bytes: Uint8Array): number => {
  for (let at = bytes.length - 1; at > 0; at--) {
    const byte = bytes[at]
    if (byte !== LF && byte !== CR) continue
    const before = bytes[at - 1]
    // The LF of a CR LF ends no line of its own; what stands before the CR decides.
    if (byte === LF && before === CR) {
      const first = bytes[at - 2]
      if (first === LF || first === CR) return at + 1
      at -= 1
      continue
    }
    if (before === LF || before === CR) return at + 1
  }
  return -1
}

/** Where the first complete block at or after `from` ends; -1 if none does. */
export const firstEnd = (bytes: Uint8Array, from: number): number => {
  let blank = true
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte !== LF && byte !== CR) {
      blank = false
      continue
    }
    if (byte === CR && bytes[at + 1] === LF) at += 1
    if (blank) return at + 1
    blank = true
  }
  return -1
}

/**
 * Cuts an event stream into complete blocks, so that what is passed on never ends in the middle of one.
 *
 * A chunk that ends with a block is handed back as it is; bytes are copied only where a block is spread over chunks.
 */
export class Blocks {
  private buffer = Buffer.alloc(0)
  private size = 0

  /** Bytes of the unfinished block so far. */
  get pending(): number {
    return this.size
  }

  /** The complete blocks up to here, in one piece; `undefined` if there are none. */
  push(chunk: Buffer): Buffer | undefined {
    if (this.size === 0) {
      const end = lastEnd(chunk)
      if (end === chunk.length) return chunk
      this.append(chunk.subarray(Math.max(end, 0)))
      return end > 0 ? chunk.subarray(0, end) : undefined
    }
    // A blank line may begin in one chunk and end in the next: three bytes before the seam are looked at again.
    const from = Math.max(0, this.size - 3)
    this.append(chunk)
    const found = lastEnd(this.buffer.subarray(from, this.size))
    if (found < 0) return undefined
    const end = from + found
    const blocks = this.buffer.subarray(0, end)
    const tail = this.buffer.subarray(end, this.size)
    this.buffer = Buffer.alloc(0)
    this.size = 0
    this.append(tail)
    return blocks
  }

  /** The unfinished block, when nothing more will come. */
  tail(): Buffer {
    const tail = this.buffer.subarray(0, this.size)
    this.buffer = Buffer.alloc(0)
    this.size = 0
    return tail
  }

  /** Grows by doubling, so that a block that drips in byte by byte costs no more than its length. */
  private append(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    const size = this.size + bytes.length
    if (size > this.buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(256, size, this.buffer.length * 2))
      this.buffer.copy(grown, 0, 0, this.size)
      this.buffer = grown
    }
    this.buffer.set(bytes, this.size)
    this.size = size
  }
}
