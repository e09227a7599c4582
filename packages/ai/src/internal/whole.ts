import type * as AiError from "@effect/ai/AiError"
import type * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Chunk from "effect/Chunk"
import * as Stream from "effect/Stream"
import { cut, told } from "./faults.js"
import { faultOfFinish, isOutput, type Part } from "./parts.js"
import type { Options } from "./redact.js"

/**
 * A stream that ends well only with its `finish`: an `error` part, a finish in error, an empty answer and an end without a
 * finish become failures. What came before them is passed on.
 */
export const whole = <P extends Part, E, R>(
  self: Stream.Stream<P, E, R>,
  method: string,
  options: () => Options
): Stream.Stream<P, E | AiError.AiError, R> =>
  Stream.suspend(() => {
    let output = false
    let finished = false

    const faultIn = (part: P): AiError.AiError | undefined => {
      if (part.type === "error") return told(Reflect.get(part, "error"), method, options())
      if (part.type === "finish") {
        finished = true
        return faultOfFinish(part, output, method)
      }
      output ||= isOutput(part)
      return undefined
    }

    type Passing = Channel.Channel<Chunk.Chunk<P>, Chunk.Chunk<P>, E | AiError.AiError, E, unknown, unknown>
    const next: Passing = Channel.readWithCause({
      onInput: (chunk: Chunk.Chunk<P>): Passing => {
        let index = 0
        for (const part of chunk) {
          const fault = faultIn(part)
          if (fault !== undefined) {
            const before = Chunk.take(chunk, index)
            return Channel.zipRight(Channel.write(before), Channel.fail(fault))
          }
          index++
        }
        return Channel.flatMap(Channel.write(chunk), () => next)
      },
      onFailure: (cause: Cause.Cause<E>) => Channel.failCause(cause),
      onDone: (done: unknown) => (finished ? Channel.succeed(done) : Channel.fail(cut(method)))
    })
    return Stream.fromChannel(Channel.pipeTo(Stream.toChannel(self), next))
  })
