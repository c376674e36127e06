import { type JsonObject, objectOrEmpty, scalarText } from '#relay/canonical/json-values.ts'
import { BLOCKED_MEMBER } from '#relay/dialects/openai-images/read-image-answers.ts'
import { afterWhiteSpace, closingQuote } from '#relay/dialects/scan-json-tokens.ts'

const QUOTE = 34
const OPEN_BRACKET = 91
const COMMA = 44
const COLON = 58

/**
 * Returns the values of all members with this name, as JSON strings with their quotes. If the value
 * of a member is a list, its strings are returned. The answer is not parsed, because images may
 * have many megabytes.
 */
function textsNamed(bytes: Buffer, name: string): readonly Buffer[] {
  const key = Buffer.from(`"${name}"`)
  const texts: Buffer[] = []
  for (let at = bytes.indexOf(key); at >= 0; at = bytes.indexOf(key, at + 1)) {
    const colon = afterWhiteSpace(bytes, at + key.length)
    // The text of the name may also be a value, as in `"type":"image"`.
    if (bytes[colon] !== COLON) continue
    let start = afterWhiteSpace(bytes, colon + 1)
    const isList = bytes[start] === OPEN_BRACKET
    if (isList) start = afterWhiteSpace(bytes, start + 1)
    while (bytes[start] === QUOTE) {
      const end = closingQuote(bytes, start)
      if (end < 0) break
      texts.push(bytes.subarray(start, end + 1))
      const next = afterWhiteSpace(bytes, end + 1)
      if (!isList || bytes[next] !== COMMA) break
      start = afterWhiteSpace(bytes, next + 1)
    }
  }
  return texts
}

/**
 * Returns an answer of OpenAI's images API with these images. `text` is the JSON string of a URL or
 * of base64 data.
 */
export function imagesAnswer(
  images: readonly { readonly name: 'url' | 'b64_json'; readonly text: Buffer }[],
  created: number,
  usage: object | null = null,
): Buffer {
  const parts: Buffer[] = [Buffer.from(`{"created":${created},"data":[`)]
  for (const [index, { name, text }] of images.entries()) {
    parts.push(Buffer.from(`${index === 0 ? '' : ','}{"${name}":`), text, Buffer.from('}'))
  }
  parts.push(Buffer.from(usage === null ? ']}' : `],"usage":${JSON.stringify(usage)}}`))
  return Buffer.concat(parts)
}

/**
 * Returns an answer without images. Its member `BLOCKED_MEMBER` states that the provider refused to
 * generate an image.
 */
export function blockedAnswer(created: number, usage: object | null = null): Buffer {
  const withoutBrace = imagesAnswer([], created, usage).subarray(0, -1)
  return Buffer.concat([withoutBrace, Buffer.from(`,${BLOCKED_MEMBER}}`)])
}

/**
 * Returns the images in an answer's members with the name `key`. `name` states whether the images
 * are URLs or data.
 */
export const imagesOf = (body: Buffer, key: string, name: 'url' | 'b64_json') =>
  textsNamed(body, key).map((text) => ({ name, text }))

/** The maximum length in bytes of an answer without images that is parsed to find an error. */
const ERROR_BYTES_MAX = 64 * 1024

/**
 * Returns the error in an answer without images, converted to OpenAI's format. `read` returns the
 * error's code and message. Returns null if the answer contains no error or is too long to be
 * parsed.
 */
export function errorIn(
  body: Buffer,
  read: (answer: JsonObject) => readonly [code: unknown, message: unknown],
): Buffer | null {
  if (body.length > ERROR_BYTES_MAX) return null
  let answer: unknown
  try {
    answer = JSON.parse(body.toString('utf8'))
  } catch {
    // An answer that is not JSON is returned unchanged and reported as invalid later.
    return body
  }
  const [code, message] = read(objectOrEmpty(answer))
  if (code === undefined || code === null || code === '' || code === 0) return null
  return Buffer.from(
    JSON.stringify({ error: { message: scalarText(message), code: scalarText(code) } }),
  )
}
