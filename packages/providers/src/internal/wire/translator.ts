import { createParser } from "eventsource-parser"
import type { Sign, StreamReader, StreamWriter } from "./model.js"

const encoder = new TextEncoder()

/**
 * Bytes of one dialect's stream in, bytes of the other's out. However the bytes are cut, what comes out is the same; after
 * a cut stream there is no end.
 */
export class Translator {
  /** The stream has said its end, or its error. */
  complete = false
  private out = ""
  private said = false
  private stopped = false
  private readonly decoder = new TextDecoder()
  private readonly parser = createParser({
    onEvent: ({ data, event }) => {
      for (const sign of this.reader.event(event, data)) {
        if (sign._tag === "Stop") this.stopped = true
        this.write(sign)
      }
    }
  })

  constructor(
    private readonly reader: StreamReader,
    private readonly writer: StreamWriter
  ) {}

  push(chunk: Uint8Array): Uint8Array {
    this.parser.feed(this.decoder.decode(chunk, { stream: true }))
    return this.flush()
  }

  /** The stream has ended. Some leave out the blank line after their last event, or the last event itself. */
  end(): Uint8Array {
    this.parser.feed(`${this.decoder.decode()}\n\n`)
    if (this.stopped && !this.complete) this.write({ _tag: "End" })
    return this.flush()
  }

  private write(sign: Sign): void {
    // An end of nothing is no answer: what came was in no dialect that is read here.
    if (sign._tag === "End" && !this.said) return
    this.said = true
    if (sign._tag === "End" || sign._tag === "Fault") this.complete = true
    this.out += this.writer.sign(sign)
  }

  private flush(): Uint8Array {
    const text = this.out
    this.out = ""
    return encoder.encode(text)
  }
}
