import { randomBytes } from "node:crypto"
import { hashKey } from "@switchgear/routing/Access"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type CommandFailed, refused } from "../commandFailed.js"
import { write } from "../output.js"

/** Makes a client's key. Only its hash is to be kept: the key itself is shown this once. */
export const add = (org: string): Effect.Effect<void, CommandFailed> =>
  Effect.suspend(() => {
    const name = org.trim()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a name with a line break would break the file
    if (name === "" || name.length > 256 || /[\u0000-\u001f]/.test(name)) {
      return refused("ORG must be 1 to 256 characters without line breaks: the organisation whose key it is")
    }
    const key = Redacted.make(`sk-switchgear-${randomBytes(32).toString("base64url")}`)
    return write(`The key, shown this once; its client sends it as Authorization: Bearer or x-api-key:

  ${Redacted.value(key)}

For the gateway's configuration, below "clients:":

  - { org: ${JSON.stringify(name)}, keyHash: "${hashKey(key)}" }
`)
  })
