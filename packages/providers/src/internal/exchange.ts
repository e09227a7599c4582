import * as Failure from "@switchgear/failures/Failure"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Dispatcher, Pool } from "undici"
import { type Answer, ProviderError, type ProviderRequest } from "../Provider.js"
import { answered, mayStream, received } from "./headers.js"
import { type Limit, type Limits, limitMessage, limitsOf, linger } from "./limits.js"
import type { Mask } from "./mask.js"
import type { Meaning } from "./meaning.js"
import { StreamBody } from "./streamBody.js"
import { StreamReader } from "./streamReader.js"
import type { Timed, Wheel } from "./wheel.js"

/** What all calls of one provider share. */
export interface Line {
  readonly name: string
  readonly pool: Pick<Pool, "dispatch">
  readonly limits: Limits
  readonly wheel: Wheel
  readonly clock: Clock.Clock
  readonly maxAnswer: number
  readonly maxEvent: number
}

type Headers = Readonly<Record<string, string>>

/** An error says what it has to say in this much. */
const maxError = 256 * 1024
/** Above this many bytes unread, nothing more is read from the socket. */
const highWater = 64 * 1024

const left = new Error("The call was left")

/** The body is not looked at before all of it is here: a JSON answer, an error, a page. */
interface Whole {
  readonly _tag: "Whole"
  readonly chunks: Array<Buffer>
  size: number
}

interface Streaming {
  readonly _tag: "Streaming"
  readonly reader: StreamReader
  /** From the commit on. */
  body: StreamBody | undefined
}

/**
 * One call upstream, from dispatch to the end of its body. It is undici's handler and the wheel's entry in one object;
 * undici's own timers are off. Whatever ends it first wins: everything later finds it `over`.
 */
export class Exchange implements Dispatcher.DispatchHandler, Timed {
  phaseDue: number
  readonly totalDue: number
  private phase: Limit = "connect"
  private readonly output: number
  private readonly outputDue: number
  private readonly total: number
  private over = false
  private controller: Dispatcher.DispatchController | undefined
  private status = 0
  private headers: Headers = {}
  private reading: Whole | Streaming | undefined
  private paused = false

  constructor(
    private readonly line: Line,
    private readonly meaning: Meaning,
    private readonly request: ProviderRequest,
    private readonly mask: Mask,
    private readonly settle: (result: Effect.Effect<Answer, ProviderError>) => void
  ) {
    const { output, total } = limitsOf(line.limits, request)
    this.output = output
    this.outputDue = line.wheel.due(request.answerWithin ?? Number.POSITIVE_INFINITY)
    this.total = total
    this.phaseDue = line.wheel.due(line.limits.connect)
    this.totalDue = line.wheel.due(this.total)
  }

  start(path: string, headers: Array<string>): void {
    this.line.wheel.add(this)
    this.line.pool.dispatch({ path, method: "POST", headers, body: this.request.body }, this)
  }

  /** The caller has gone. */
  leave(): void {
    this.close()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.over) {
      controller.abort(left)
      return
    }
    this.enter("firstOutput", this.output)
    this.phaseDue = Math.min(this.phaseDue, this.outputDue)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Parameters<typeof received>[0]
  ): void {
    if (this.over || status < 200) return
    this.status = status
    this.headers = received(headers)
    this.controller = controller
    this.reading =
      this.request.stream && status < 300 && mayStream(this.headers["content-type"])
        ? { _tag: "Streaming", reader: this.reader(), body: undefined }
        : { _tag: "Whole", chunks: [], size: 0 }
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.over || this.reading === undefined) return
    if (this.reading._tag === "Whole") this.collect(this.reading, chunk)
    else this.take(this.reading, chunk)
  }

  onResponseEnd(): void {
    if (this.over || this.reading === undefined) return
    if (this.reading._tag === "Whole") {
      this.close(false)
      this.conclude(this.reading)
      return
    }
    const found = this.reading.reader.end()
    this.pass(this.reading, found.pass)
    if (found.failure !== undefined) {
      this.fail(found.failure, found.frame)
      return
    }
    this.close(false)
    this.reading.body?.end()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.over) return
    if (this.endsWell()) return
    this.fail(this.meaning.thrown(error, this.line.clock.unsafeCurrentTimeMillis()))
  }

  expire(now: number): void {
    if (this.endsWell()) return
    const limit = this.totalDue <= now ? "total" : this.phase
    const millis = limit === "total" ? this.total : this.millis(limit)
    this.fail(Failure.make("timeout", limitMessage(limit, millis), { code: `${limit}_timeout` }))
  }

  /** A broken connection or a limit does no harm to what has said all it had to say; an error's first words suffice. */
  private endsWell(): boolean {
    const reading = this.reading
    if (reading?._tag === "Streaming" && reading.reader.complete && reading.body !== undefined) {
      this.close()
      reading.body.end()
      return true
    }
    if (reading?._tag === "Whole" && this.status >= 300) {
      this.close()
      this.conclude(reading)
      return true
    }
    return false
  }

  private millis(limit: Limit): number {
    return limit === "firstOutput" ? this.output : this.line.limits[limit]
  }

  private enter(phase: Limit, millis: number): void {
    this.phase = phase
    this.phaseDue = this.line.wheel.due(millis)
  }

  private collect(whole: Whole, chunk: Buffer): void {
    whole.chunks.push(chunk)
    whole.size += chunk.length
    // White space is how some keep a connection alive while they think.
    if (!isBlank(chunk)) this.enter("idle", this.line.limits.idle)
    if (this.status >= 300 && whole.size > maxError) {
      this.endsWell()
    } else if (whole.size > this.line.maxAnswer) {
      this.fail(Failure.make("server_error", `the answer exceeds ${this.line.maxAnswer} bytes`))
    }
  }

  private conclude(whole: Whole): void {
    const [first] = whole.chunks
    const body = first !== undefined && whole.chunks.length === 1 ? first : Buffer.concat(whole.chunks)
    const asked = this.request.stream ? "stream" : "json"
    const failure = this.meaning.answer(
      asked,
      this.status,
      this.headers,
      body,
      this.line.clock.unsafeCurrentTimeMillis()
    )
    if (failure === undefined) {
      this.settle(
        Effect.succeed({
          _tag: "Json",
          status: this.status,
          headers: answered(this.headers, this.mask.text),
          body: this.mask.output(body)
        })
      )
      return
    }
    this.settle(Effect.fail(this.error(failure, body)))
  }

  private reader(): StreamReader {
    const now = this.line.clock.unsafeCurrentTimeMillis()
    return new StreamReader(
      this.meaning.initial,
      now,
      (bytes) => this.meaning.answer("stream", this.status, this.headers, bytes, now) ?? noStream,
      this.line.maxEvent
    )
  }

  private take(streaming: Streaming, chunk: Buffer): void {
    const found = streaming.reader.push(chunk)
    this.pass(streaming, found.pass)
    if (found.failure !== undefined) {
      this.fail(found.failure, found.frame)
    } else if (streaming.reader.complete) {
      this.enter("idle", Math.min(this.line.limits.idle, linger))
    } else if (found.output) {
      this.enter("idle", this.line.limits.idle)
    }
    const body = streaming.body
    if (body !== undefined && body.size > highWater && !this.paused) this.pause()
  }

  private pass(streaming: Streaming, bytes: Buffer | undefined): void {
    if (bytes === undefined) return
    const masked = this.mask.output(bytes)
    if (streaming.body !== undefined) {
      streaming.body.push(masked)
      return
    }
    const body = new StreamBody({ resume: this.resume, leave: () => this.leave() })
    streaming.body = body
    body.push(masked)
    this.settle(
      Effect.succeed({
        _tag: "Stream",
        status: this.status,
        headers: answered(this.headers, this.mask.text),
        body
      })
    )
  }

  /** A reader who takes their time is no silence of the upstream's. */
  private pause(): void {
    this.paused = true
    this.phaseDue = Number.POSITIVE_INFINITY
    this.controller?.pause()
  }

  private readonly resume = (): void => {
    if (!this.paused || this.over) return
    this.paused = false
    this.enter("idle", this.line.limits.idle)
    this.controller?.resume()
  }

  private fail(failure: Failure.Failure, frame?: string): void {
    this.close()
    const body = this.reading?._tag === "Streaming" ? this.reading.body : undefined
    if (body !== undefined) body.fail(this.error(failure))
    else this.settle(Effect.fail(this.error(failure, frame === undefined ? undefined : Buffer.from(frame))))
  }

  private error(failure: Failure.Failure, body?: Buffer): ProviderError {
    if (body === undefined) return new ProviderError({ provider: this.line.name, failure })
    return new ProviderError({
      provider: this.line.name,
      failure,
      response: {
        status: this.status,
        headers: answered(this.headers, this.mask.text),
        body: this.mask.error(body)
      }
    })
  }

  private close(abort = true): void {
    if (this.over) return
    this.over = true
    this.line.wheel.delete(this)
    if (abort) this.controller?.abort(left)
  }
}

const noStream = Failure.make("server_error", "The answer was no stream")

const isBlank = (chunk: Buffer): boolean => {
  for (const byte of chunk) if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) return false
  return true
}
