import type { ReadTexts, TextSink } from '#relay/canonical/read-answer-texts.ts'

const VALUE = /\s*:\s*"/y
const PARTIAL = /"type"\s*:\s*"[a-z_]+\.partial_image"/
const REVISED = /"revised_prompt"\s*:\s*("(?:[^"\\]|\\.)*")/g
const TYPE_CHARACTERS_MAX = 1_024

/** Returns how many members have this name and a non-empty string as value. */
function textsNamed(json: string, name: string): number {
  const key = `"${name}"`
  let count = 0
  for (let at = json.indexOf(key); at >= 0; at = json.indexOf(key, at + 1)) {
    VALUE.lastIndex = at + key.length
    if (VALUE.test(json) && json[VALUE.lastIndex] !== '"') count += 1
  }
  return count
}

/**
 * Passes the number of images in an answer of OpenAI's images API to the sink. `json` is a complete
 * answer, or the data of one event. It is not parsed, because images may have many megabytes. Text
 * inside a JSON string can't be mistaken for a key, because its quotes are escaped. An image with
 * both a URL and data counts once.
 */
export const countDeliveredImages: ReadTexts = (json, sink) => {
  const images = Math.max(textsNamed(json, 'b64_json'), textsNamed(json, 'url'))
  const isPartial =
    images > 0 &&
    (PARTIAL.test(json.slice(0, TYPE_CHARACTERS_MAX)) ||
      PARTIAL.test(json.slice(-TYPE_CHARACTERS_MAX)))
  sink.images?.(images, isPartial)
  readRevisedPrompts(json, sink)
}

function readRevisedPrompts(json: string, sink: TextSink): void {
  if (!json.includes('"revised_prompt"')) return
  let choice = 0
  for (const [, text = '""'] of json.matchAll(REVISED)) {
    sink.text(Math.min(choice, 16), 0, JSON.parse(text) as string)
    choice += 1
  }
}

/** Passes the number of images in an answer of Imagen to the sink. */
export const countPredictedImages: ReadTexts = (json, sink) => {
  sink.images?.(textsNamed(json, 'bytesBase64Encoded'), false)
}
