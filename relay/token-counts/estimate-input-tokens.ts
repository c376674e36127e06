export const TOKENS_PER_IMAGE = 765

/** The maximum number of pictures to find. All further pictures are counted as text. */
const PICTURES_MAX = 1_000
/** The maximum number of bytes before a mark that are compared with `head`. */
const HEAD_BYTES_MAX = 256

/**
 * How pictures are found. `mark` stands before the base64 data, and `head` matches the text before
 * the mark. `quotes` is the number of quotes between the mark and the end of the data.
 */
const PICTURES = [
  // A data URL. In other members, data URLs count as text.
  { mark: ';base64,', head: /"(?:url|file_data)"\s*:\s*"data:[^"\\]*$/, quotes: 1 },
  // The data of a part of Gemini's API, behind its type.
  { mark: '"data"', head: /"mime_?[tT]ype"\s*:\s*"[^"]*"\s*,\s*$/, quotes: 2 },
]

/** Estimates one token for four bytes of JSON, and a fixed number of tokens for each picture. */
export function estimateInputTokens(requestBody: Uint8Array): number {
  const json = Buffer.from(requestBody.buffer, requestBody.byteOffset, requestBody.byteLength)
  let bytes = json.length
  let pictures = 0
  for (const { mark, head, quotes } of PICTURES) {
    let at = json.indexOf(mark)
    for (let found = 0; at >= 0 && found < PICTURES_MAX; found += 1) {
      let end = at + mark.length - 1
      for (let quote = 0; quote < quotes && end >= 0; quote += 1) end = json.indexOf('"', end + 1)
      if (end < 0) break
      if (head.test(json.toString('latin1', Math.max(0, at - HEAD_BYTES_MAX), at))) {
        bytes -= end - at
        pictures += 1
      }
      at = json.indexOf(mark, end)
    }
  }
  return Math.ceil(bytes / 4) + pictures * TOKENS_PER_IMAGE
}
