import * as Redact from "@switchgear/failures/Redact"

/** `Redact.text` cuts what is longer than 500, so a longer line is masked in pieces, none of which splits a word. */
const piece = 400

const maskPiece = (text: string): string => {
  const indent = /^\s*/.exec(text)?.[0] ?? ""
  const end = /\s*$/.exec(text.slice(indent.length))?.[0] ?? ""
  return `${indent}${Redact.text(text)}${end}`
}

const maskLine = (line: string): string => {
  if (line.length <= piece) return maskPiece(line)
  const pieces: Array<string> = []
  let current = ""
  for (const word of line.split(/(?<=[\s,;{}])/)) {
    if (current !== "" && current.length + word.length > piece) {
      pieces.push(maskPiece(current))
      current = ""
    }
    current += word
  }
  return [...pieces, maskPiece(current)].join("")
}

/** A text without secrets: the given ones, and whatever looks like one. Its lines stay, and it is not cut. */
export const maskText = (text: string, secrets: ReadonlyArray<string>): string => {
  let out = text
  for (const secret of secrets) if (secret !== "") out = out.split(secret).join("[masked]")
  return out.split("\n").map(maskLine).join("\n")
}

/** As `maskText`, and without any URL: words of our own side of the wire name the upstream. */
export const maskLocal = (text: string, secrets: ReadonlyArray<string>): string =>
  maskText(text.replace(/\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>)]+/gi, "[address]"), secrets)

/** What of a URL may be shown: its path. The rest is the upstream's address, credentials and a query that may hold keys. */
export const maskUrl = (url: string, secrets: ReadonlyArray<string>): string => {
  const path = URL.canParse(url) ? new URL(url).pathname : url.replace(/[?#].*$/s, "")
  return maskText(path, secrets)
}
