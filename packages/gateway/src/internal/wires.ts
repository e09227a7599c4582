import type { Operation } from "@switchgear/providers/Provider"
import { type Dialect, dialects } from "./dialects.js"
import { type Check, withInput, withMessages, withOptionalInput } from "./requestShape.js"

/** An endpoint that takes calls: what it is upstream, what a body must look like, how its errors read. */
export interface Wire {
  readonly operation: Operation
  readonly dialect: Dialect
  readonly check: Check
  /** Headers of the caller's that mean something upstream. No credential, and nothing that picks an account of theirs. */
  readonly forwarded: ReadonlyArray<string>
}

const openAi = ["openai-beta"]

/** ROUTING W1. */
export const wires: Readonly<Record<string, Wire>> = {
  "/v1/chat/completions": {
    operation: "chat.completions",
    dialect: dialects.openAi,
    check: withMessages,
    forwarded: openAi
  },
  "/v1/responses": {
    operation: "responses",
    dialect: dialects.responses,
    check: withOptionalInput,
    forwarded: openAi
  },
  "/v1/embeddings": { operation: "embeddings", dialect: dialects.openAi, check: withInput, forwarded: openAi },
  "/v1/messages": {
    operation: "messages",
    dialect: dialects.anthropic,
    check: withMessages,
    forwarded: ["anthropic-version", "anthropic-beta"]
  }
}
