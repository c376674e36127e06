export const TOKENS_PER_IMAGE = 765

/** From here to the end of its string. */
const PICTURE = ';base64,'

/**
 * Tokens of a request without a vocabulary: its JSON is about as dense as four bytes to a token. A
 * picture in it counts as one, however many bytes it has.
 */
export function roughInput(requestBody: Uint8Array): number {
  const json = Buffer.from(requestBody.buffer, requestBody.byteOffset, requestBody.byteLength)
  let bytes = json.length
  let pictures = 0
  let at = json.indexOf(PICTURE)
  while (at >= 0) {
    const end = json.indexOf('"', at)
    if (end < 0) break
    bytes -= end - at
    pictures += 1
    at = json.indexOf(PICTURE, end)
  }
  return Math.ceil(bytes / 4) + pictures * TOKENS_PER_IMAGE
}
