import type { ReadTexts, TextSink } from '#relay/canonical/answer-text-sink.ts'
import {
  type JsonObject,
  objectOf,
  objectOrEmpty,
  objectsOf,
  parsedObject,
  textOf,
} from '#relay/canonical/json-values.ts'
import type { UsageReport } from '#relay/canonical/provider-usage-report.ts'
import { readOpenAiUsage } from '#relay/canonical/read-openai-usage-for-billing.ts'
import type { RelayErrorCode } from '#relay/canonical/relay-error.ts'
import {
  type AnswerFault,
  answerCheck,
  hasCounts,
  isInvalidJsonObject,
} from '../check-successful-answer.ts'
import { OPENAI_STREAM } from '../openai-chat/stream-events.ts'
import { usageInAnswer } from '../openai-chat/usage-in-answer.ts'
import type { EventMeaning, StreamFormat } from '../stream-format.ts'
import type { UsageContext } from '../wire-format.ts'

const VALUE = /\s*:\s*"/y
const PARTIAL = /"type"\s*:\s*"[a-z_]+\.partial_image"/
const REVISED = /"revised_prompt"\s*:\s*("(?:[^"\\]|\\.)*")/g
const ENHANCED = /"prompt"\s*:\s*("(?:[^"\\]|\\.)*")/g
const TYPE_CHARACTERS_MAX = 1_024

/** Returns the number of members with the name `name` whose value is a non-empty string. */
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
 * Passes the number of images and the revised prompts in an answer of OpenAI's images API to the
 * sink. `json` is a complete answer, or the data of one event. The JSON is not parsed, because
 * images may have many megabytes. Text inside a JSON string can't be mistaken for a key, because
 * its quotes are escaped. An image with both a URL and data counts once.
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

const IMAGE_KEYS = ['"b64_json"', '"url"'].map((key) => Buffer.from(key))
const NON_EMPTY_TEXT = /^\s*:\s*"[^"]/
const VALUE_START_BYTES = 64

/**
 * Reports whether an answer contains an image. The answer is searched as bytes and only up to its
 * first image, because it may have many megabytes.
 */
export function hasImage(body: Buffer): boolean {
  return IMAGE_KEYS.some((key) => {
    for (let at = body.indexOf(key); at >= 0; at = body.indexOf(key, at + 1)) {
      const start = at + key.length
      if (NON_EMPTY_TEXT.test(body.toString('latin1', start, start + VALUE_START_BYTES))) {
        return true
      }
    }
    return false
  })
}

const errorOfMembers = answerCheck('data')

/**
 * Checks an answer with status 200. An answer without an image is a fault only if it reports no
 * usage. A provider that reports usage charges for the answer.
 */
export function errorOfImages(body: Buffer): AnswerFault | null {
  const error = errorOfMembers(body)
  if (error !== null) return error
  if (isInvalidJsonObject(body)) return 'format'
  if (hasImage(body) || hasCounts(usageInAnswer(body))) return null
  return isBlocked(body) ? 'blocked' : 'no-image'
}

/** Returns the error for an answer without an image, and null for one with an image. */
export function errorWithoutImage(body: Buffer): RelayErrorCode | null {
  if (hasImage(body)) return null
  return isBlocked(body) ? 'image_blocked' : 'upstream_no_image'
}

/**
 * The gateway's adapters add this member to an answer if the provider refuses to make an image of
 * the prompt.
 */
export const BLOCKED_MEMBER = '"blocked":true'
const isBlocked = (body: Buffer): boolean => body.includes(BLOCKED_MEMBER)

/**
 * Renders a valid answer with an image as the last event of a stream, whose type is `type`. The
 * members of the image become members of the event.
 */
export function streamOfImage(body: Buffer, type: string): string {
  const { data, created, usage } = parsedObject(body) ?? {}
  const images = objectsOf(data)
  const image = images.find(({ b64_json, url }) => textOf(b64_json) || textOf(url)) ?? images[0]
  const event = { type, ...image, created_at: created, usage }
  return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`
}

/**
 * Passes the number of images in an answer of Imagen to the sink, and the prompts that Imagen has
 * enhanced.
 */
export const countPredictedImages: ReadTexts = (json, sink) => {
  sink.images?.(textsNamed(json, 'bytesBase64Encoded'), false)
  if (sink.uncountedText === undefined) return
  for (const [, text = '""'] of json.matchAll(ENHANCED)) {
    sink.uncountedText(JSON.parse(text) as string)
  }
}

/**
 * Reads the usage of OpenAI's images API. All output tokens are image tokens, unless the details of
 * the output say otherwise. A usage with `generated_images` may have no input tokens.
 */
export function readImageUsage(raw: unknown, bounds: UsageContext): UsageReport {
  if (typeof raw !== 'object' || raw === null) return readOpenAiUsage(raw, bounds)
  const reported = raw as Record<string, unknown>
  const output = reported.output_tokens ?? reported.completion_tokens
  const isWithoutInput = reported.generated_images !== undefined
  const input = reported.input_tokens ?? reported.prompt_tokens ?? (isWithoutInput ? 0 : undefined)
  const details = objectOrEmpty(reported.output_tokens_details)
  const { image_tokens: ofImages, text_tokens: ofText } = details
  const isSplit = ofImages !== undefined || ofText !== undefined
  return readOpenAiUsage(
    {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: reported.total_tokens,
      prompt_tokens_details: reported.input_tokens_details,
      completion_tokens_details: isSplit ? details : { image_tokens: output },
    },
    bounds,
  )
}

const ENDS: ReadonlySet<unknown> = new Set(['image_generation.completed', 'image_edit.completed'])

function readEvent(event: object, isErrorEvent: boolean): EventMeaning {
  const { type, usage, error, model } = event as JsonObject
  return {
    usage: objectOf(usage) ?? undefined,
    model,
    isError: isErrorEvent || type === 'error' || objectOf(error) !== null,
    isUsageOnly: false,
    isLast: false,
    ending: ENDS.has(type) ? 'final' : null,
  }
}

/**
 * The stream of one image. The stream ends with `[DONE]`, or when the connection closes after the
 * event with the complete image. An event contains a complete image, so it may be as long as an
 * answer. If the caller disconnects, the stream is read to its end, because the provider charges
 * for the image.
 */
export const IMAGE_STREAM: StreamFormat = {
  isLastEvent: OPENAI_STREAM.isLastEvent,
  endsWithConnection: true,
  isAlwaysReadOn: true,
  streamsPlainAnswers: true,
  marks: ['"usage"', '"error"', ...[...ENDS].map((name) => `"${String(name)}"`)],
  eventBytesMax: 32 * 1024 * 1024,
  finishReason: /"type"\s*:\s*"image_[a-z]+\.completed"/,
  readEvent,
  combineUsage: (earlier, later) => later ?? earlier,
}
