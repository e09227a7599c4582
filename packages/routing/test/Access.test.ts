import { assert, describe, it } from "@effect/vitest"
import * as Access from "@switchgear/routing/Access"
import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { ask } from "./pipelineHelpers.js"

const clientKey = Redacted.make("sk-client")

describe("Access.policies: clients", () => {
  it.effect("a client is the one whose key's digest is that of the key, whatever a store finds", () =>
    Effect.gen(function* () {
      const memory = yield* ModelPolicies.makeMemory({ clients: [{ org: "acme", keyHash: Access.hashKey(clientKey) }] })
      const options = { clients: "required", rules: "clients" } as const
      const granted = yield* Access.policies(memory, options)(ask({ clientKey }))
      assert.strictEqual(granted.org, "acme")
      for (const keyHash of [`sha256:${"0".repeat(64)}`, "sha256:", ""]) {
        const loose = { ...memory, client: () => Effect.succeed(Option.some({ org: "acme", keyHash })) }
        const error = yield* Effect.flip(Access.policies(loose, options)(ask({ clientKey })))
        assert.strictEqual(error._tag === "Rejected" ? error.status : 0, 401)
      }
    })
  )
})
