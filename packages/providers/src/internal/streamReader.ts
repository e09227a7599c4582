import * as Failure from "@switchgear/failures/Failure"
import * as StreamClassifier from "@switchgear/failures/StreamClassifier"
import { createParser, type EventSourceMessage } from "eventsource-parser"
import { Blocks, firstEnd } from "./blocks.js"

/** What a reader found out from a chunk. */
export interface Found {
  /** Bytes to pass on; whole blocks. Held bytes come out with the first output. */
  readonly pass: Buffer | undefined
  /** The chunk had output in it, not only signs of life. */
  readonly output: boolean
  readonly failure: Failure.Failure | undefined
  /** The frame that said so, as data of its event. */
  readonly frame: string | undefined
}

const nothing: Found = { pass: undefined, output: false, failure: undefined, frame: undefined }

/**
 * Reads an event stream up to the commit and beyond (DESIGN 4): bytes in, bytes out, looked at but not rebuilt.
 *
 * Until the first output everything is held back. Afterwards whole blocks pass as they came, up to the one that says the
 * stream failed. Both the held bytes and an unfinished block are bounded.
 */
export class StreamReader {
  /** Output has been seen, or the end of a stream that has none. */
  committed = false
  /** The stream's own end has been seen. */
  get complete(): boolean {
    return this.state.complete
  }

  private held: Array<Buffer> = []
  private heldSize = 0
  private heard = false
  private events: Array<EventSourceMessage> = []
  private readonly blocks = new Blocks()
  private readonly parser = createParser({ onEvent: (event) => this.events.push(event) })

  constructor(
    private state: StreamClassifier.State,
    /** Wall time (ms), against which an error's dates are read. */
    private readonly now: number,
    /** What bytes mean that are no event stream at all. */
    private readonly noStream: (bytes: Buffer) => Failure.Failure,
    private readonly maxBytes: number
  ) {}

  push(chunk: Buffer): Found {
    const blocks = this.blocks.push(chunk)
    if (blocks !== undefined) return this.read(blocks)
    return this.blocks.pending + this.heldSize > this.maxBytes ? this.tooLarge() : nothing
  }

  /** The body has ended. A stream that has not ended by itself was cut. */
  end(): Found {
    const tail = this.blocks.tail()
    if (this.complete) return tail.length > 0 ? { ...nothing, pass: tail } : nothing
    if (tail.length > 0) {
      // Some servers leave out the blank line after their last event.
      const last = this.read(tail, "\n\n")
      if (last.failure !== undefined || this.complete) return last
    }
    // Otherwise what came of the last event is no event, and is not passed on.
    if (!this.heard) return { ...nothing, failure: this.noStream(this.heldBytes()) }
    const end = StreamClassifier.end(this.state)
    return end._tag === "Failure" ? { ...nothing, failure: end.failure } : nothing
  }

  /** What is held back: everything that came, while nothing was passed on. */
  heldBytes(): Buffer {
    return Buffer.concat(this.held)
  }

  private tooLarge(): Found {
    const failure = Failure.make(
      "server_error",
      `an event of the stream, or what preceded its output, exceeds ${this.maxBytes} bytes`
    )
    return { ...nothing, failure }
  }

  private read(blocks: Buffer, ending = ""): Found {
    this.events = []
    this.parser.feed(textOf(blocks) + ending)
    const events = this.events
    if (events.length > 0) this.heard = true
    let output = false
    for (let at = 0; at < events.length; at++) {
      const event = events[at]
      if (event === undefined) continue
      const sign = StreamClassifier.step(this.state, event.event, event.data, this.now)
      this.state = sign.state
      if (sign.failure !== undefined) {
        const before = output || this.committed ? this.release(blocksBefore(blocks, at)) : undefined
        return { pass: before, output, failure: sign.failure, frame: event.data }
      }
      if (sign.output) output = true
    }
    if (output || this.complete || this.committed) return { ...nothing, pass: this.release(blocks), output }
    this.held.push(blocks)
    this.heldSize += blocks.length
    return this.heldSize > this.maxBytes ? this.tooLarge() : nothing
  }

  private release(blocks: Buffer): Buffer {
    this.committed = true
    if (this.held.length === 0) return blocks
    const all = Buffer.concat([...this.held, blocks])
    this.held = []
    this.heldSize = 0
    return all
  }
}

/** A CR at the end may be half a CR LF: the parser would wait for the other half, and the event with it. */
const textOf = (blocks: Buffer): string => {
  const text = blocks.toString()
  const bare = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  return bare.endsWith("\r") ? `${bare}\n` : bare
}

/** The blocks before the one with this event, counting those only that make an event. */
const blocksBefore = (blocks: Buffer, event: number): Buffer => {
  let seen = 0
  const parser = createParser({ onEvent: () => (seen += 1) })
  let from = 0
  while (true) {
    const end = firstEnd(blocks, from)
    if (end < 0) return blocks.subarray(0, from)
    parser.feed(textOf(blocks.subarray(from, end)))
    if (seen > event) return blocks.subarray(0, from)
    from = end
  }
}
