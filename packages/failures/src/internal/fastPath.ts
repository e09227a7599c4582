/**
 * Recognises an ordinary delta by its text. Each pattern follows a frame from its first brace to the first character of
 * its output through keys it knows, so that what it sees is the structure and not something quoted inside a string; what
 * comes after may neither repeat a key that counts nor hold one that could be an error or an end.
 */

const scalar = String.raw`(?:"[^"\\]*"|-?\d+(?:\.\d+)?|null|true|false)`
const before = (keys: string): string => `(?:"(?:${keys})": ?${scalar}, ?)*`

const chat = new RegExp(
  String.raw`^\{ ?${before("id|object|created|model|system_fingerprint|service_tier|provider|obfuscation|usage")}"choices": ?\[\{ ?` +
    String.raw`${before("index|finish_reason|logprobs")}"delta": ?\{ ?` +
    `(?:"role": ?"assistant", ?)?(?:"content": ?(?:null|""), ?)?"(?:content|reasoning_content|reasoning|refusal)": ?"[^"]`
)
const anthropic =
  /^\{ ?"type": ?"content_block_delta", ?"index": ?\d+, ?"delta": ?\{ ?"type": ?"(?:text_delta|thinking_delta|input_json_delta)", ?"(?:text|thinking|partial_json)": ?"[^"]/
const responses = new RegExp(
  String.raw`^\{ ?"type": ?"response\.[a-z_.]{1,60}\.delta", ?${before("sequence_number|output_index|content_index|summary_index|item_id|obfuscation")}"delta": ?"[^"]`
)
const gemini = /^\{\s*"candidates": ?\[\s*\{\s*"content": ?\{\s*"parts": ?\[\s*\{\s*"text": ?"[^"]/

/** Keys that may not come (again) after the match. */
const chatAfter = ['"choices"', '"delta"', '"content"', '"reasoning_content"', '"reasoning"', '"refusal"', '"type"']
const typedAfter = ['"type"', '"delta"', '"text"', '"thinking"', '"partial_json"', '"choices"', '"candidates"']
const geminiAfter = ['"candidates"', '"content"', '"parts"', '"text"', '"type"', '"choices"', '"finishReason"']

/** Every `"finish_reason"` is null: the only one there is, that is. */
const unfinished = (data: string): boolean => {
  const at = data.indexOf('"finish_reason"')
  return at === -1 || (/^: ?null/.test(data.slice(at + 15, at + 21)) && data.indexOf('"finish_reason"', at + 15) === -1)
}

/** Nothing in it could be an error: neither such a key nor such a value, nor a key written with escapes. */
const harmless = (data: string): boolean =>
  !data.includes('"error"') &&
  !data.includes('"failed"') &&
  !data.includes('Exception"') &&
  !data.includes('"promptFeedback"') &&
  !data.includes("\\u00")

const noneAfter = (data: string, from: number, keys: ReadonlyArray<string>): boolean => {
  for (const key of keys) if (data.indexOf(key, from) !== -1) return false
  return true
}

/** Whether a full reading of this event would say: output, no end, no error. May say no where that is so. */
export const isOrdinaryDelta = (event: string | undefined, data: string): boolean => {
  if (data.charCodeAt(0) !== 123 || !harmless(data)) return false
  if (data.startsWith('"type"', data.charCodeAt(1) === 32 ? 2 : 1)) {
    const typed = anthropic.exec(data) ?? responses.exec(data)
    return typed !== null && noneAfter(data, typed[0].length, typedAfter)
  }
  // Without a type of its own an event is what its name says.
  if (event !== undefined && event !== "message") return false
  const text = chat.exec(data)
  if (text !== null) return unfinished(data) && noneAfter(data, text[0].length, chatAfter)
  const parts = gemini.exec(data)
  return parts !== null && noneAfter(data, parts[0].length, geminiAfter)
}
