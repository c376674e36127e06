import { type JsonObject, objectOf, parsedObject } from '#relay/canonical/json-values.ts'
import {
  type ContentPart,
  ConversionError,
  type FileSource,
} from '../canonical/canonical-request.ts'
import { withCallerPath } from './caller-paths-of-canonical-parts.ts'
import { addLoss } from './collect-losses.ts'
import { isWebUrl, readDataUrl } from './data-url.ts'
import {
  isAbsent,
  optionalText,
  requiredList,
  requiredObject,
  requiredText,
} from './read-json-values-strictly.ts'

type ReadPart = (part: JsonObject, path: string, losses: string[]) => readonly ContentPart[]

/**
 * Reads the content of a message in OpenAI's formats, which is a string, a list of parts, or null.
 * An empty string gives no part, because other formats reject empty texts. `readPart` reads the
 * elements of a list. The elements before the index `first` are left out.
 */
export function readTextOrParts(
  content: unknown,
  path: string,
  losses: string[],
  readPart: ReadPart,
  first = 0,
): ContentPart[] {
  if (isAbsent(content)) return []
  if (typeof content === 'string') {
    return content === '' ? [] : [withCallerPath({ kind: 'text', text: content }, path)]
  }
  return requiredList(content, path).flatMap((element, at) => {
    if (at < first) return []
    const partPath = `${path}[${at}]`
    const parts = readPart(requiredObject(element, partPath), partPath, losses)
    return parts.map((part) => withCallerPath(part, partPath))
  })
}

/** Reads a part with text. Returns null for an empty text. */
export function readText(part: JsonObject, path: string): ContentPart | null {
  const text = requiredText(part.text, `${path}.text`)
  return text === '' ? null : { kind: 'text', text }
}

/** Reads a part in which the model refused to answer. */
export function readRefusedText(part: JsonObject, path: string): ContentPart {
  return { kind: 'refusal', text: requiredText(part.refusal, `${path}.refusal`) }
}

/** The values of `detail` that all formats know. */
export const IMAGE_DETAILS: ReadonlySet<unknown> = new Set(['low', 'high', 'auto'])

/** The media type that is assumed for a file without a media type. */
export const DOCUMENT_TYPE = 'application/pdf'

/**
 * Reads a web address or a data URL. `mediaType` is used if a data URL states none. Throws a
 * `ConversionError` with `path` for any other text.
 */
export function readUrl(url: string, path: string, mediaType: string): FileSource {
  const content = readDataUrl(url)
  if (content !== null) {
    return { kind: 'base64', mediaType: content.mediaType || mediaType, data: content.data }
  }
  if (isWebUrl(url)) return { kind: 'url', url }
  throw new ConversionError(path, 'A web address or a data URL in base64 is expected.')
}

/** Returns the media type of an audio format, such as `mp3`. */
export const mediaTypeOfAudio = (format: string): string =>
  format === 'mp3' ? 'audio/mpeg' : `audio/${format}`

/**
 * Returns the arguments of a tool call as the JSON text of an object. Missing or blank arguments
 * become `{}`. A text that is not a JSON object is reported as lost and wrapped in an object.
 * Models sometimes write such texts, and the caller must still be able to continue the
 * conversation.
 */
export function readArguments(value: unknown, path: string, losses: string[]): string {
  const object = objectOf(value)
  if (object !== null) return JSON.stringify(object)
  const text = optionalText(value, path) ?? ''
  if (text.trim() === '') return '{}'
  if (parsedObject(text) !== null) return text
  addLoss(losses, path)
  return JSON.stringify({ arguments: text })
}
