import type { ServerResponse } from "node:http"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type { Behaviour, Call, Ending, Step } from "./model.js"

/** Real time: the sockets' peers live in it, whatever clock a test runs under. */
const clock = Clock.make()

/** Runs `task` after so many ms. Returns what prevents it. */
const after = (millis: number, task: () => void): (() => void) => {
  const fiber = Effect.runFork(Effect.map(clock.sleep(Duration.millis(millis)), task))
  return () => Effect.runFork(Fiber.interruptAsFork(fiber, FiberId.none))
}

/** Takes a behaviour's steps on a response: at the client's pace, and no further once it is gone. */
export class Player {
  /** Bytes of the body that the socket has taken. */
  sent = 0
  private readonly steps: Iterator<Step>
  private cancel: (() => void) | undefined
  private dropped = false
  private headed = false

  constructor(
    private readonly response: ServerResponse,
    behaviour: Behaviour,
    call: Call,
    onClose: (ending: Ending) => void
  ) {
    this.steps = behaviour.steps(call)[Symbol.iterator]()
    response.on("close", () => {
      this.cancel?.()
      onClose(this.dropped ? "dropped" : response.writableFinished ? "answered" : "left")
    })
  }

  readonly go = (): void => {
    while (!this.response.destroyed) {
      const next = this.steps.next()
      if (next.done === true || next.value._tag === "Hang") {
        this.flush()
        return
      }
      const step = next.value
      switch (step._tag) {
        case "Head":
          this.headed = true
          this.response.writeHead(step.status, { ...step.headers })
          break
        case "Write":
          if (!this.write(step.chunk)) {
            this.response.once("drain", this.go)
            return
          }
          break
        case "Wait":
          this.flush()
          this.cancel = after(step.millis, this.go)
          return
        case "End":
          this.response.end()
          return
        case "Close":
          this.dropped = true
          this.response.socket?.destroy()
          return
        case "Reset":
          this.dropped = true
          this.response.socket?.resetAndDestroy()
          return
      }
    }
  }

  private flush(): void {
    if (this.headed) this.response.flushHeaders()
  }

  private write(chunk: string | Uint8Array): boolean {
    const size = typeof chunk === "string" ? Buffer.byteLength(chunk) : chunk.byteLength
    return this.response.write(chunk, (error) => {
      if (!error) this.sent += size
    })
  }
}
