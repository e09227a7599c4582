import type * as Effect from "effect/Effect"

/**
 * The endpoint a request came to, by its path. `unknown`: none of those this upstream speaks.
 *
 * @since 0.1.0
 * @category models
 */
export type Endpoint = "chat.completions" | "responses" | "embeddings" | "messages" | "unknown"

/**
 * How a call ended: `answered` in full, `left` by the client, or `dropped` by the upstream itself.
 *
 * @since 0.1.0
 * @category models
 */
export type Ending = "answered" | "left" | "dropped"

/**
 * One request as the upstream saw it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Call {
  /** In order of arrival, from 0. */
  readonly index: number
  readonly endpoint: Endpoint
  readonly method: string
  readonly path: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The body as JSON; `undefined` if it is none. */
  readonly json: unknown
  /** Whether the body asks for a stream. */
  readonly stream: boolean
  /** The model the body asks for; empty if it names none. */
  readonly model: string
  /** Bytes of the answer's body that the socket has taken so far. */
  readonly sent: () => number
  /** Waits until the call is over. */
  readonly closed: Effect.Effect<Ending>
}

/**
 * What a behaviour does next. Steps are taken in order; `hang` keeps the connection open and silent.
 *
 * @since 0.1.0
 * @category models
 */
export type Step =
  | { readonly _tag: "Head"; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly _tag: "Write"; readonly chunk: string | Uint8Array }
  | { readonly _tag: "Wait"; readonly millis: number }
  | { readonly _tag: "Hang" }
  | { readonly _tag: "End" }
  /** Closes the connection in an orderly way (FIN), wherever the answer stands. */
  | { readonly _tag: "Close" }
  /** Resets the connection (RST). */
  | { readonly _tag: "Reset" }

/**
 * How one request is answered. `steps` is read lazily, so it may go on for ever.
 *
 * @since 0.1.0
 * @category models
 */
export interface Behaviour {
  readonly name: string
  readonly steps: (call: Call) => Iterable<Step>
}

/**
 * One behaviour per request in order of arrival, the last repeated; or chosen by looking at the request.
 *
 * @since 0.1.0
 * @category models
 */
export type Script = readonly [Behaviour, ...ReadonlyArray<Behaviour>] | ((call: Call) => Behaviour)

/**
 * What a good answer says.
 *
 * @since 0.1.0
 * @category models
 */
export interface Reply {
  /** The text, in the parts a stream sends it in. Default `["Hello", " there"]`. */
  readonly parts?: ReadonlyArray<string>
  readonly toolCalls?: ReadonlyArray<{ readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }>
  /** Tokens. Default 7 in, one out per part. */
  readonly usage?: { readonly input: number; readonly output: number }
  /** Default: the model asked for. */
  readonly model?: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * What a bad answer says, in whatever dialect the request spoke. What is left out follows from the status.
 *
 * @since 0.1.0
 * @category models
 */
export interface Complaint {
  readonly message?: string
  readonly type?: string
  readonly code?: string
  /** Repeats the credential it was sent in the message, as some vendors do. */
  readonly echoKey?: boolean
  readonly headers?: Readonly<Record<string, string>>
}
