import type { Operation } from "@switchgear/providers/Provider"
import { type Checked, checkChat } from "./chatRequest.js"
import type { ClientError } from "./clientError.js"
import { type Dialect, dialects } from "./dialects.js"

/** An endpoint that takes calls: what it is upstream, what a body must look like, how its errors read. */
export interface Wire {
  readonly operation: Operation
  readonly dialect: Dialect
  readonly check: (body: unknown) => Checked | ClientError
}

/** ROUTING W1. */
export const wires: Readonly<Record<string, Wire>> = {
  "/v1/chat/completions": { operation: "chat.completions", dialect: dialects.openAi, check: checkChat }
}
