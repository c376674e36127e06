export const TOKENS_PER_IMAGE = 765

/**
 * Marks the beginning of base64 data in a JSON string. The data extends to the end of the string.
 */
const PICTURE = ';base64,'
/** The maximum number of pictures to find. All further pictures are counted as text. */
const PICTURES_MAX = 1_000
/** The maximum distance in bytes between the member's name and `PICTURE`. */
const HEAD_BYTES_MAX = 256
/** Matches the beginning of a member with a data URL. Data URLs in other members count as text. */
const HEAD = /"(?:url|file_data)"\s*:\s*"data:[^"\\]*$/

/** Estimates one token for four bytes of JSON, and a fixed number of tokens for each picture. */
export function estimateInputTokens(requestBody: Uint8Array): number {
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
