import { type Edit, splice } from '../splice.ts'

const KEY = Buffer.from('"model"')
const QUOTE = 34
const BACKSLASH = 92
const COLON = 58

/**
 * An answer, or whole events of a stream, with the name of the model that the caller used. Found
 * in the bytes, which are not built: inside a text the key's quotes would have backslashes. The
 * empty name, which Azure sends in its first event, stays.
 */
export function withModel(bytes: Buffer, model: string): Buffer {
  const edits: Edit[] = []
  for (let at = bytes.indexOf(KEY); at >= 0; at = bytes.indexOf(KEY, at + KEY.length)) {
    if (bytes[at - 1] === BACKSLASH) continue
    const colon = behindSpace(bytes, at + KEY.length)
    if (bytes[colon] !== COLON) continue
    const start = behindSpace(bytes, colon + 1)
    const end = bytes[start] === QUOTE ? endOfText(bytes, start) : -1
    if (end > start + 2) edits.push({ start, end, text: JSON.stringify(model) })
  }
  return splice(bytes, edits)
}

function behindSpace(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 32 || bytes[at] === 10 || bytes[at] === 13 || bytes[at] === 9) at += 1
  return at
}

/** Behind the quote that closes the text at `start`; -1 when none does. */
function endOfText(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    if (bytes[at] === BACKSLASH) at += 1
    else if (bytes[at] === QUOTE) return at + 1
  }
  return -1
}
