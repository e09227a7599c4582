import { ProviderError } from "@switchgear/providers/Provider"
import type { Served } from "../Call.js"
import type { CallError } from "../CallError.js"
import type { Stored } from "../IdempotencyStore.js"
import { RouteError } from "../RouteError.js"

/** A stream's bytes as they pass, as long as they are not too many. */
export class Recording {
  private readonly chunks: Array<Uint8Array> = []
  size = 0

  constructor(private readonly maxSize: number) {}

  chunk(bytes: Uint8Array): void {
    this.size += bytes.length
    if (this.size <= this.maxSize) this.chunks.push(bytes)
    else this.chunks.length = 0
  }

  bytes(): Uint8Array {
    const all = new Uint8Array(this.size)
    let at = 0
    for (const chunk of this.chunks) {
      all.set(chunk, at)
      at += chunk.length
    }
    return all
  }
}

export const ofServed = ({ answer, model, provider, substituted }: Served, body: Uint8Array): Stored => {
  const { headers, status } = answer
  return { _tag: "Answer", stream: answer._tag === "Stream", status, headers, body, model, provider, substituted }
}

/** An upstream's answer to the request itself; what we refuse ourselves may be granted the next time. */
export const ofError = (error: CallError): Stored | undefined => {
  if (error._tag !== "RouteError" || error.reason._tag !== "Failed") return undefined
  const { failure, provider, response } = error.reason.error
  return {
    _tag: "Failed",
    model: error.reason.model,
    provider,
    failure,
    ...(response === undefined ? undefined : { response })
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, undefined> {
  yield bytes
}

/** The same again, byte for byte. */
export const replay = (stored: Stored, requested: string): Served | RouteError => {
  if (stored._tag === "Failed") {
    const { failure, model, provider, response } = stored
    const error = new ProviderError({ provider, failure, ...(response === undefined ? undefined : { response }) })
    return new RouteError({ model: requested, reason: { _tag: "Failed", model, error }, attempts: [] })
  }
  const { body, headers, model, provider, status, stream, substituted } = stored
  return {
    answer: stream ? { _tag: "Stream", status, headers, body: once(body) } : { _tag: "Json", status, headers, body },
    model,
    provider,
    substituted,
    attempts: [],
    replayed: true,
    cached: false
  }
}
