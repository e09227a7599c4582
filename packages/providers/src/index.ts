/**
 * @since 0.1.0
 */
export * as Anthropic from "./Anthropic.js"
/**
 * @since 0.1.0
 */
export * as AzureOpenAi from "./AzureOpenAi.js"
/**
 * @since 0.1.0
 */
export * as Byo from "./Byo.js"
/**
 * @since 0.1.0
 */
export * as HttpProvider from "./HttpProvider.js"
/**
 * @since 0.1.0
 */
export * as OpenAi from "./OpenAi.js"
/**
 * @since 0.1.0
 */
export * as OpenAiCompatible from "./OpenAiCompatible.js"
/**
 * @since 0.1.0
 */
export * as Provider from "./Provider.js"
/**
 * @since 0.1.0
 */
export * as Retry from "./Retry.js"
/**
 * @since 0.1.0
 */
export * as ScriptedProvider from "./ScriptedProvider.js"
/**
 * @since 0.1.0
 */
export * as Translated from "./Translated.js"
/**
 * @since 0.1.0
 */
export * as Wire from "./Wire.js"
