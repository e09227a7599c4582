import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import type { Transition } from "../Transition.js"

interface Subscriber {
  readonly mailbox: Mailbox.Mailbox<Transition>
  /** The one breaker whose transitions are wanted. */
  readonly breaker: string | undefined
}

/**
 * Hands transitions to whoever listens. Each subscriber has a mailbox of its own that forgets its oldest letters when
 * it is full: one that is slow or stuck delays nobody and grows no heap, one that has gone is gone from here.
 */
export class Hub {
  private readonly subscribers = new Set<Subscriber>()

  get size(): number {
    return this.subscribers.size
  }

  deliver(transition: Transition): void {
    for (const { breaker, mailbox } of this.subscribers) {
      if (breaker === undefined || breaker === transition.breaker) mailbox.unsafeOffer(transition)
    }
  }

  deliverAll(transitions: ReadonlyArray<Transition>): void {
    if (this.subscribers.size === 0) return
    for (const transition of transitions) this.deliver(transition)
  }

  stream(breaker: string | undefined, capacity: number): Stream.Stream<Transition> {
    const subscribe = Effect.map(Mailbox.make<Transition>({ capacity, strategy: "sliding" }), (mailbox) => {
      const subscriber: Subscriber = { mailbox, breaker }
      this.subscribers.add(subscriber)
      return subscriber
    })
    const unsubscribe = (subscriber: Subscriber): Effect.Effect<unknown> => {
      this.subscribers.delete(subscriber)
      return subscriber.mailbox.shutdown
    }
    return Stream.unwrapScoped(
      Effect.map(Effect.acquireRelease(subscribe, unsubscribe), ({ mailbox }) => Mailbox.toStream(mailbox))
    )
  }
}
