import { shown } from "./words.js"

/** How a text is painted, where colours are wanted. */
export type Paint = (style: Style, text: string) => string

const codes = {
  bold: "1",
  dim: "2",
  red: "31",
  green: "32",
  yellow: "33",
  blue: "34",
  magenta: "35",
  cyan: "36"
} as const

export type Style = keyof typeof codes

export const plain: Paint = (_, text) => text

export const coloured: Paint = (style, text) => (text.trim() === "" ? text : `\u001b[${codes[style]}m${text}\u001b[0m`)

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u

const zero = /^[\p{Mn}\p{Me}\p{Cf}]$/u

const widthOf = (character: string): number => (zero.test(character) ? 0 : wide.test(character) ? 2 : 1)

/** Columns that an unpainted text takes. */
export const columns = (text: string): number => [...text].reduce((sum, character) => sum + widthOf(character), 0)

/** As much of a text as so many columns hold. */
export const cut = (text: string, width: number): string => {
  const safe = shown(text)
  if (columns(safe) <= width) return safe
  let taken = ""
  for (const character of safe) {
    if (columns(taken) + widthOf(character) > width - 1) break
    taken += character
  }
  return width < 1 ? "" : `${taken}…`
}

/** A text cut or filled up with spaces to so many columns. */
export const padded = (text: string, width: number): string => {
  const fits = cut(text, width)
  return fits + " ".repeat(Math.max(0, width - columns(fits)))
}

/** Lines of at most so many columns; a word that is longer is broken. */
export const wrapped = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  const take = (word: string): void => {
    const longer = line === "" ? word : `${line} ${word}`
    if (columns(longer) <= width) {
      line = longer
      return
    }
    if (line !== "") lines.push(line)
    line = ""
    for (const character of word) {
      if (line !== "" && columns(line) + widthOf(character) > width) {
        lines.push(line)
        line = ""
      }
      line += character
    }
  }
  for (const word of shown(text).split(" ")) if (word !== "") take(word)
  if (line !== "") lines.push(line)
  return lines
}
