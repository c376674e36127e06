import { type JsonObject, objectOrEmpty } from '#relay/canonical/json-values.ts'
import { relayError } from '../../canonical/relay-error.ts'
import { notPossible, PICTURES, refuse, TaskRequestError } from '../read-task-request-body.ts'
import { isGiven } from './names-of-video-members.ts'

const TEXT_MAX = 128
const IMAGE_MAX = 20 * 1024 * 1024
const IMAGES_MAX = 8
const SEED_MAX = Number.MAX_SAFE_INTEGER

export const unsupported = (param: string): TaskRequestError =>
  new TaskRequestError(relayError('parameter_not_supported', { param }))

/**
 * Reads a text. Returns null if the member is missing, empty or blank. Throws `TaskRequestError` if
 * it is not a text or has more than `max` characters.
 */
export function textIn(members: JsonObject, name: string, max = TEXT_MAX): string | null {
  const value = members[name]
  if (!isGiven(value)) return null
  if (typeof value !== 'string') return refuse('text_empty', name)
  if (value.length > max) return refuse('string_above_max_length', name, max)
  return value.trim() === '' ? null : value
}

/**
 * Reads an integer, which some formats send as a text. Returns null if the member is missing or
 * empty, and NaN for a value that is not a safe integer.
 */
function numberIn(members: JsonObject, name: string): number | null {
  const value = members[name]
  if (!isGiven(value)) return null
  const isText = typeof value === 'string' && /^-?\d{1,16}$/.test(value)
  const number = isText ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : Number.NaN
}

/**
 * Reads the length in seconds. Returns NaN for a value that is not an integer, so that the vendor
 * refuses it and names the lengths that its model offers.
 */
export const secondsIn = (members: JsonObject): number | null =>
  numberIn(members, 'seconds') ?? numberIn(members, 'duration')

export function seedIn(members: JsonObject): number | null {
  const seed = numberIn(members, 'seed')
  if (!Number.isNaN(seed)) return seed
  return refuse('integer_out_of_range', 'seed', `-${SEED_MAX}–${SEED_MAX}`)
}

export function audioIn(members: JsonObject): boolean | null {
  const { generate_audio: flag, sound } = members
  // All values in a form are texts.
  if (flag === true || flag === 'true') return true
  if (flag === false || flag === 'false') return false
  if (isGiven(flag)) notPossible('generate_audio', ['true', 'false'])
  if (!isGiven(sound)) return null
  return sound === 'on' ? true : sound === 'off' ? false : notPossible('sound', ['on', 'off'])
}

export function modeIn(members: JsonObject): 'std' | 'pro' | null {
  const { mode } = members
  if (!isGiven(mode) || (typeof mode === 'string' && mode.trim() === '')) return null
  return mode === 'std' || mode === 'pro' ? mode : notPossible('mode', ['std', 'pro'])
}

export function imagesIn(members: JsonObject): readonly string[] {
  const { images } = members
  const first = onlyOne(members, 'image', 'input_reference')
  if (images === undefined || images === null) return first === null ? [] : [first]
  if (!Array.isArray(images)) return notPossible('images', ['["https://…"]'])
  if (images.length > IMAGES_MAX) return refuse('list_too_long', 'images', IMAGES_MAX)
  const listed = images.map((image, index) => pictureOf(image, `images[${index}]`))
  return first === null ? listed : [first, ...listed]
}

/**
 * Reads a picture that may be given under two names. Two different pictures are refused, because
 * only one could be sent.
 */
export function onlyOne(members: JsonObject, name: string, secondName: string): string | null {
  const [first, second] = [imageIn(members, name), imageIn(members, secondName)]
  if (first !== null && second !== null && first !== second) throw unsupported(secondName)
  return first ?? second
}

function imageIn(members: JsonObject, name: string): string | null {
  const value = members[name]
  if (!isGiven(value)) return null
  if (typeof value !== 'object') return pictureOf(value, name)
  const { image_url: address, file_id: fileId } = objectOrEmpty(value)
  // Files belong to the operator's account at the provider, so callers can't refer to them.
  if (isGiven(fileId)) throw unsupported(`${name}.file_id`)
  return pictureOf(address, name)
}

/**
 * Checks a picture, which is a web URL, a data URL or a base64 text. Returns the URL. A base64 text
 * becomes a data URL.
 */
function pictureOf(value: unknown, param: string): string {
  if (typeof value !== 'string') return notPossible(param, PICTURES)
  if (value.length > IMAGE_MAX) return refuse('string_above_max_length', param, IMAGE_MAX)
  if (/^https?:\/\//i.test(value)) return URL.canParse(value) ? value : notPossible(param, PICTURES)
  if (/^data:image\/[\w.+-]+;base64,[A-Za-z0-9+/]/.test(value)) return value
  if (!/^[A-Za-z0-9+/]{64}/.test(value)) return notPossible(param, PICTURES)
  const type = value.startsWith('/9j/') ? 'jpeg' : value.startsWith('UklGR') ? 'webp' : 'png'
  return `data:image/${type};base64,${value}`
}
