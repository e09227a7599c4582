import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"

/**
 * The base of an error that is cheap to raise. Its instances inherit all that a tagged error of Effect has, `instanceof
 * Error` included, but no `Error` is constructed for them, so no stack is captured: 20 ns instead of 600 without a
 * stack, 7 000 with one.
 */
export const LightError: new () => Cause.YieldableError = /*#__PURE__*/ (() => {
  function LightError() {}
  LightError.prototype = Data.Error.prototype
  return LightError as unknown as new () => Cause.YieldableError
})()
