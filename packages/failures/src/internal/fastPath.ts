/**
 * Recognises an ordinary delta by its text, for a fifth of the price of a parse.
 *
 * A pattern follows the frame from its first brace to the first character of its output, through keys it knows, so that
 * what it sees is the structure and not something quoted inside a string. What comes after the match is searched for
 * anything that could make it an error or an end, or could take the match back: such a key or value, or a key written
 * with escapes. (Inside a string a quote is escaped, so `"error"` there has a backslash before its last quote.)
 */

const scalar = String.raw`(?:"[^"\\]*"|-?\d+(?:\.\d+)?|null|true|false)`
const before = (keys: string): string => `(?:"(?:${keys})": ?${scalar}, ?|"object": ?"chat\\.completion\\.chunk", ?)*`

const chat = new RegExp(
  String.raw`^\{ ?${before("id|created|model|system_fingerprint|service_tier|provider|obfuscation")}"choices": ?\[\{ ?` +
    String.raw`(?:"(?:index|finish_reason|logprobs)": ?(?:\d+|null), ?)*"delta": ?\{ ?` +
    `(?:"role": ?"assistant", ?)?(?:"content": ?(?:null|""), ?)?(?:"(?:content|reasoning_content|reasoning|refusal)"` +
    String.raw`|"tool_calls": ?\[\{ ?(?:"index": ?\d+, ?)?(?:"id": ?null, ?)?(?:"type": ?"function", ?)?"function": ?\{ ?(?:"name": ?null, ?)?"arguments")` +
    `: ?"[^"]`
)
const anthropic =
  /^\{ ?"type": ?"content_block_delta", ?"index": ?\d+, ?"delta": ?\{ ?"type": ?"(?:text_delta|thinking_delta|input_json_delta)", ?"(?:text|thinking|partial_json)": ?"[^"]/
const responses =
  /^\{ ?"type": ?"response\.[a-z_.]{1,60}\.delta", ?(?:"(?:sequence_number|output_index|content_index|summary_index|item_id|obfuscation)": ?(?:"[^"\\]*"|\d+), ?)*"delta": ?"[^"]/
const gemini = /^\{\s*"candidates": ?\[\s*\{\s*"content": ?\{\s*"parts": ?\[\s*\{\s*"text": ?"[^"]/

const against = (keys: string): RegExp =>
  new RegExp(
    String.raw`"(?:error|failed|promptFeedback|type|choices|candidates|${keys})"|"finish_reason"(?!: ?null)|Exception"|\\u00[2-7]`,
    "g"
  )

const chatAgainst = against("delta|content|reasoning_content|reasoning|refusal|tool_calls|function|arguments")
const typedAgainst = against("delta|text|thinking|partial_json")
const geminiAgainst = against("content|parts|text|finishReason")

const clear = (pattern: RegExp, data: string, from: number): boolean => {
  pattern.lastIndex = from
  return !pattern.test(data)
}

/** Whether a full reading of this event would say: output, no end, no error. May say no where that is so. */
export const isOrdinaryDelta = (event: string | undefined, data: string): boolean => {
  if (data.startsWith('{"type"') || data.startsWith('{ "type"')) {
    const typed = anthropic.exec(data) ?? responses.exec(data)
    return typed !== null && clear(typedAgainst, data, typed[0].length - 1)
  }
  // Without a type of its own an event is what its name says.
  if (event !== undefined && event !== "message") return false
  const text = chat.exec(data)
  if (text !== null) return clear(chatAgainst, data, text[0].length - 1)
  const parts = gemini.exec(data)
  return parts !== null && clear(geminiAgainst, data, parts[0].length - 1)
}
