import { closingQuote } from '../dialects/scan-json-tokens.ts'

/**
 * The maximum length of a picture in base64, in characters. It corresponds to about 15 MiB of file
 * data.
 */
export const PICTURE_LENGTH_MAX = 20 * 1024 * 1024

const ADDRESS_LENGTH_MAX = 4_096
/** The maximum length in bytes of the part of a data URL before the base64 text. */
const HEAD_BYTES = 128
const DATA_HEAD = /^data:image\/[\w.+-]{1,64}(?:;[\w.+=-]{1,32})*;base64,/i
const WEB_HEAD = /^https?:\/\//i

/** Patterns that match the beginning of picture files in base64. */
const FILE_HEADS: readonly RegExp[] = [
  /^iVBORw0KGgo/, // PNG
  /^\/9j\//, // JPEG
  /^R0lGOD[ld]/, // GIF
  /^UklGR.{8}XRUJQ/, // WebP
  /^Qk[0-3]/, // BMP
  /^AAAA.{2}Z0eX/, // AVIF, HEIC
]

const QUOTE = 34
const BACKSLASH = 92
const PAD = 61
/**
 * A table with the value 1 at the index of each byte that can occur in base64, including URL-safe
 * characters and line ends.
 */
const BASE64_BYTES = new Uint8Array(256)
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_\r\n'
for (const letter of LETTERS) BASE64_BYTES[letter.charCodeAt(0)] = 1

/**
 * Reports whether a JSON string (with its quotes) contains a picture: a data URL, a picture file in
 * base64, or a web URL, which some providers accept. Only a string with escapes is copied, because
 * it must be decoded.
 */
export function isPictureInJson(json: Buffer): boolean {
  const text = json.includes(BACKSLASH)
    ? Buffer.from(JSON.parse(json.toString('utf8')) as string)
    : json.subarray(1, -1)
  const head = text.toString('latin1', 0, HEAD_BYTES)
  if (WEB_HEAD.test(head)) {
    return text.length <= ADDRESS_LENGTH_MAX && URL.canParse(text.toString('utf8'))
  }
  const dataHead = DATA_HEAD.exec(head)?.[0]
  if (dataHead !== undefined) return isBase64(text, dataHead.length)
  return FILE_HEADS.some((pattern) => pattern.test(head)) && isBase64(text, 0)
}

function isBase64(text: Buffer, start: number): boolean {
  let end = text.length
  while (end > start && end > text.length - 2 && text[end - 1] === PAD) end -= 1
  for (let at = start; at < end; at += 1) if (BASE64_BYTES[text[at] as number] !== 1) return false
  return end > start
}

/**
 * Yields the bytes of each string in a JSON list, with its quotes. At the first value that is not a
 * string, yields null and ends.
 */
export function* stringsInJsonList(list: Buffer): Generator<Buffer | null> {
  let at = 1
  while (at < list.length - 1) {
    const byte = list[at] as number
    // Skips a comma or one of the four kinds of white space.
    if (byte === 44 || byte === 32 || byte === 9 || byte === 10 || byte === 13) {
      at += 1
      continue
    }
    if (byte !== QUOTE) {
      yield null
      return
    }
    const end = closingQuote(list, at) + 1
    yield list.subarray(at, end)
    at = end
  }
}
