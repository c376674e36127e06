export const TOKENS_PER_IMAGE = 765

/** Base64 data extends from here to the end of its string. */
const PICTURE = ';base64,'
/** Further pictures are counted as text, so that the search takes bounded time. */
const PICTURES_MAX = 1_000
/** The string and the name of its member begin at most this many bytes before `PICTURE`. */
const HEAD_BYTES_MAX = 256
/** Matches the members that hold a data address. Any similar text elsewhere is text. */
const HEAD = /"(?:url|file_data)"\s*:\s*"data:[^"\\]*$/

/**
 * Estimates a request's tokens without a vocabulary: about four bytes of its JSON make a token. A
 * picture has a fixed number of tokens, whatever its size.
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
