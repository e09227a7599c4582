import type { StreamAnswer } from "@switchgear/providers/Provider"
import { WatchedBody, type Watcher } from "./watchedBody.js"

/** Looks at a stream's chunks and its end. A stage of the user's may have put a body of its own around ours. */
export const watch = (answer: StreamAnswer, watcher: Watcher): StreamAnswer => {
  const { body } = answer
  if (body instanceof WatchedBody) {
    body.watch(watcher)
    return answer
  }
  const watched = new WatchedBody(body)
  watched.watch(watcher)
  return { ...answer, body: watched }
}
