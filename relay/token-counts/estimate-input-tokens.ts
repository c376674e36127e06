/** The number of tokens that the estimate assumes for each picture. */
export const TOKENS_PER_IMAGE = 765

/**
 * The maximum number of marks that are inspected per entry of `PICTURES`. Pictures after the last
 * of these marks count as text.
 */
const PICTURES_MAX = 1_000
/** The maximum number of bytes before a mark in which the pattern `head` is searched for. */
const HEAD_BYTES_MAX = 256

/**
 * The rules by which pictures are recognized. `mark` is a text before the base64 data, and `head`
 * must match the text before the mark. `quotes` is the number of quotation marks from the end of
 * the mark to the end of the data.
 */
const PICTURES = [
  // A data URL in one of these members. Data URLs in other members count as text.
  { mark: ';base64,', head: /"(?:url|file_data)"\s*:\s*"data:[^"\\]*$/, quotes: 1 },
  // The `data` of a part in a request of Gemini's API, after its MIME type.
  { mark: '"data"', head: /"mime_?[tT]ype"\s*:\s*"[^"]*"\s*,\s*$/, quotes: 2 },
]

/**
 * Estimates the number of input tokens: a fixed number for each picture, and one token per four
 * bytes of the remaining JSON.
 */
export function estimateInputTokens(requestBody: Uint8Array): number {
  const json = Buffer.from(requestBody.buffer, requestBody.byteOffset, requestBody.byteLength)
  let bytes = json.length
  let pictures = 0
  for (const { mark, head, quotes } of PICTURES) {
    let at = json.indexOf(mark)
    for (let marks = 0; at >= 0 && marks < PICTURES_MAX; marks += 1) {
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
