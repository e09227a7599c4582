import * as Duration from "effect/Duration"

/**
 * The limits of one call. Each ends it with a failure of kind `timeout` that names the limit in its message and code
 * (`connect_timeout`, `firstOutput_timeout`, `idle_timeout`, `total_timeout`). `Duration.infinity` turns one off.
 *
 * - `connect` (5 seconds): until a connection is there, a wait for a free one included.
 * - `firstOutput` (60 seconds): from then to the first meaningful output of a stream. Pings, comments and lifecycle events
 *   do not count. A JSON answer begins when all of it has been generated, so it has no such limit of its own unless this is
 *   set; then it ends at the first byte of the body that is not white space.
 * - `idle` (60 seconds): between meaningful parts, or between the pieces of a JSON body. It rests while a slow reader holds
 *   the stream up.
 * - `total` (10 minutes): all of it.
 *
 * They are kept on a coarse wheel: never early, late by a tenth of the shortest limit at most, and never by more than 200 ms.
 *
 * @since 0.1.0
 * @category models
 */
export interface Timeouts {
  readonly connect?: Duration.DurationInput
  readonly firstOutput?: Duration.DurationInput
  readonly idle?: Duration.DurationInput
  readonly total?: Duration.DurationInput
}

/** The limits of a call, in ms. */
export interface Limits {
  readonly connect: number
  readonly firstOutput: number
  /** The first byte of a JSON answer comes when all of it has been generated. */
  readonly firstByte: number
  readonly idle: number
  readonly total: number
}

export type Limit = "connect" | "firstOutput" | "idle" | "total"

/** A stream that has said its last word gets this much to close (ms). */
export const linger = 2_000

const millis = (input: Duration.DurationInput | undefined, otherwise: number): number => {
  if (input === undefined) return otherwise
  const value = Duration.toMillis(input)
  return value > 0 ? value : Number.POSITIVE_INFINITY
}

export const limits = (timeouts: Timeouts = {}): Limits => ({
  connect: millis(timeouts.connect, 5_000),
  firstOutput: millis(timeouts.firstOutput, 60_000),
  firstByte: millis(timeouts.firstOutput, Number.POSITIVE_INFINITY),
  idle: millis(timeouts.idle, 60_000),
  total: millis(timeouts.total, 600_000)
})

const words: { readonly [L in Limit]: string } = {
  connect: "no connection",
  firstOutput: "no output",
  idle: "no further output",
  total: "not finished"
}

/** `no output within 60000 ms (firstOutput)` */
export const limitMessage = (limit: Limit, millis: number): string =>
  `${words[limit]} within ${millis} ms (limit ${limit})`

/** What one request makes of the limits: how long it may wait for output, and how long it may take in all. */
export const limitsOf = (
  limits: Limits,
  request: { readonly stream: boolean; readonly timeLeft?: number; readonly answerWithin?: number }
): { readonly output: number; readonly total: number } => {
  const within = request.answerWithin ?? Number.POSITIVE_INFINITY
  const total = Math.min(limits.total, request.timeLeft ?? Number.POSITIVE_INFINITY)
  return request.stream
    ? { output: Math.min(limits.firstOutput, within), total }
    : { output: limits.firstByte, total: Math.min(total, within) }
}
