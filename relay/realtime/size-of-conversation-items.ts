import { isObject } from '#relay/canonical/json-values.ts'
import { notOneOf, type RelayError, relayError } from '../canonical/relay-error.ts'
import { notOfKinds, OBJECTS } from '../dialects/read-common-request-members.ts'
import { checkSpelling } from './check-member-names.ts'
import { inputAudioTokens } from './realtime-usage.ts'

/** The size of content in the input of a response. */
export type ContentSize = {
  /** The number of bytes of the content as JSON, without audio and pictures. */
  readonly textBytes: number
  readonly audioBytes: number
  readonly pictures: number
}

export const NO_CONTENT: ContentSize = Object.freeze({ textBytes: 0, audioBytes: 0, pictures: 0 })

/**
 * The number of tokens of one picture. `most` is the highest number that providers are expected to
 * charge, and `likely` is an estimate.
 */
const PICTURE_TOKENS = { most: 6_000, likely: 765 }
const BYTES_PER_TOKEN = 4

/**
 * Returns the maximum number of tokens of content. Each byte of text is counted as one token,
 * because a token has at least one byte. `rate` is the number of bytes per second of audio.
 */
export const tokensAtMost = (
  { textBytes, audioBytes, pictures }: ContentSize,
  rate: number,
): number => textBytes + inputAudioTokens(audioBytes, rate) + pictures * PICTURE_TOKENS.most

/** Estimates how many tokens content has. `rate` is the number of bytes per second of audio. */
export const estimatedTokens = (
  { textBytes, audioBytes, pictures }: ContentSize,
  rate: number,
): { readonly text: number; readonly audio: number; readonly image: number } => ({
  text: Math.ceil(textBytes / BYTES_PER_TOKEN),
  audio: inputAudioTokens(audioBytes, rate),
  image: pictures * PICTURE_TOKENS.likely,
})

export const withContent = (one: ContentSize, other: ContentSize): ContentSize => ({
  textBytes: one.textBytes + other.textBytes,
  audioBytes: one.audioBytes + other.audioBytes,
  pictures: one.pictures + other.pictures,
})

export const textContent = (value: unknown): ContentSize => ({
  ...NO_CONTENT,
  textBytes: value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)),
})

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

/**
 * Returns the number of bytes that a base64 text encodes, or null if the value is not a base64
 * text.
 */
export const base64Bytes = (value: unknown): number | null =>
  typeof value === 'string' && BASE64.test(value) ? Math.floor((value.length * 3) / 4) : null

const ITEMS = new Set(['message', 'function_call', 'function_call_output'])
const TEXT_PARTS = new Set(['input_text', 'output_text', 'text'])
const AUDIO_PARTS = new Set(['input_audio', 'output_audio', 'audio'])

/**
 * Returns the size of an item of a conversation, or an error. Items of tools that the provider runs
 * are refused. `referred` contains the ids to which earlier items of the same list refer; it is
 * undefined if references are not allowed. A list may refer to an item only once, because each
 * reference costs as much as the item.
 */
export function readItem(
  value: unknown,
  param: string,
  referred?: Set<unknown>,
): ContentSize | RelayError {
  if (!isObject(value)) return notOfKinds(param, ['object'])
  const ambiguous = checkSpelling(value, ['type', 'id', 'content'], `${param}.`)
  if (ambiguous !== null) return ambiguous
  const { type = 'message', id, content } = value
  if (type === 'item_reference' && referred !== undefined) {
    if (referred.has(id)) return relayError('invalid_parameter', { param: `${param}.id` })
    referred.add(id)
    return textContent(value)
  }
  if (typeof type !== 'string' || !ITEMS.has(type)) {
    return relayError('parameter_not_supported', { param: `${param}.type` })
  }
  if (content === undefined || content === null) return textContent(value)
  if (!Array.isArray(content)) {
    return notOneOf(`${param}.content`, [OBJECTS])
  }
  const { content: _, ...others } = value
  let sum = textContent(others)
  for (const [at, part] of content.entries()) {
    const added = readPart(part, `${param}.content[${at}]`)
    if ('code' in added) return added
    sum = withContent(sum, added)
  }
  return sum
}

function readPart(part: unknown, param: string): ContentSize | RelayError {
  if (!isObject(part)) return notOfKinds(param, ['object'])
  const ambiguous = checkSpelling(part, ['type', 'audio', 'image_url'], `${param}.`)
  if (ambiguous !== null) return ambiguous
  const { type, audio, image_url, ...others } = part
  if (typeof type !== 'string') return notOfKinds(`${param}.type`, ['string'])
  const text = textContent(others)
  if (AUDIO_PARTS.has(type) && image_url === undefined) {
    const audioBytes = audio === undefined || audio === null ? 0 : base64Bytes(audio)
    if (audioBytes === null) return relayError('invalid_parameter', { param: `${param}.audio` })
    return { ...text, audioBytes }
  }
  if (type === 'input_image' && audio === undefined) return { ...text, pictures: 1 }
  if (TEXT_PARTS.has(type) && image_url === undefined && audio === undefined) return text
  return relayError('parameter_not_supported', { param: `${param}.type` })
}
