export const TOKENS_PER_IMAGE = 765

/** From here to the end of its string. */
const PICTURE = ';base64,'
/** More pictures than this are counted as text, so that looking for them takes bounded time. */
const PICTURES_MAX = 1_000
/** How far in front of `PICTURE` its string and the name of its member begin at most. */
const HEAD_BYTES_MAX = 256
/** The members that hold a data address. Any other text that looks like one is text. */
const HEAD = /"(?:url|file_data)"\s*:\s*"data:[^"\\]*$/

/**
 * Tokens of a request without a vocabulary: its JSON is about as dense as four bytes to a token. A
 * picture in it counts as one, however many bytes it has.
 */
export function roughInput(requestBody: Uint8Array): number {
  const json = Buffer.from(requestBody.buffer, requestBody.byteOffset, requestBody.byteLength)
  let bytes = json.length
  let pictures = 0
  let at = json.indexOf(PICTURE)
  for (let found = 0; at >= 0 && found < PICTURES_MAX; found += 1) {
    const end = json.indexOf('"', at)
    if (end < 0) break
    if (HEAD.test(json.toString('latin1', Math.max(0, at - HEAD_BYTES_MAX), at))) {
      bytes -= end - at
      pictures += 1
    }
    at = json.indexOf(PICTURE, end)
  }
  return Math.ceil(bytes / 4) + pictures * TOKENS_PER_IMAGE
}
