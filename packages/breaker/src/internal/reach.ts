import type { Clock } from "effect/Clock"
import * as Effect from "effect/Effect"
import type { StoreError } from "../CircuitBreakerStore.js"
import type { RegistryEvent } from "../RegistryEvent.js"
import { storeGone } from "./metrics.js"

/** Whether a registry's store answers, told once when it changes. */
export class Reach {
  away = false
  private unmark: (() => void) | undefined = undefined

  constructor(
    private readonly clock: Clock,
    private readonly emit: (event: RegistryEvent) => void
  ) {}

  failed({ reason }: StoreError): Effect.Effect<void> {
    return Effect.sync(() => {
      if (this.away) return
      this.away = true
      this.unmark = storeGone()
      this.emit({ _tag: "StoreUnavailable", at: this.clock.unsafeCurrentTimeMillis(), reason })
    })
  }

  answered(): Effect.Effect<void> {
    return Effect.sync(() => {
      if (!this.away) return
      this.close()
      this.emit({ _tag: "StoreAvailable", at: this.clock.unsafeCurrentTimeMillis() })
    })
  }

  /** With the registry: its store is nobody's concern any more. */
  close(): void {
    this.away = false
    this.unmark?.()
    this.unmark = undefined
  }
}
