/**
 * @since 0.1.0
 */
export * as FallbackLanguageModel from "./FallbackLanguageModel.js"
/**
 * @since 0.1.0
 */
export * as GuardedLanguageModel from "./GuardedLanguageModel.js"
/**
 * @since 0.1.0
 */
export * as ModelFailure from "./ModelFailure.js"
/**
 * @since 0.1.0
 */
export * as Redaction from "./Redaction.js"
/**
 * @since 0.1.0
 */
export * as ScriptedLanguageModel from "./ScriptedLanguageModel.js"
/**
 * @since 0.1.0
 */
export * as ScriptedSteps from "./ScriptedSteps.js"
