import { isObject, type JsonObject, objectOf, textOf } from '#relay/canonical/json-values.ts'
import {
  type CacheMark,
  type ContentPart,
  ConversionError,
  type FileSource,
  type ImagePart,
} from '../../canonical/canonical-request.ts'
import {
  type ContentReading,
  readContentBlock,
} from '../anthropic-messages/read-request-content.ts'
import { addLoss, addUnreadMembers } from '../collect-losses.ts'
import { isWebUrl, readDataUrl } from '../data-url.ts'
import {
  isAbsent,
  optionalText,
  requiredObject,
  requiredText,
} from '../read-json-values-strictly.ts'
import {
  DOCUMENT_TYPE,
  IMAGE_DETAILS,
  mediaTypeOfAudio,
  readRefusedText,
  readText,
  readTextOrParts,
  readUrl,
} from '../read-openai-content.ts'
import { textsOfThinking } from './thinking-in-assistant-messages.ts'

/**
 * Reads the content of a message. Parts may also have Anthropic's form, because some clients, such
 * as Cursor, send them so in chats with Claude. The parts before the index `first` are left out.
 */
export const readContent = (
  content: unknown,
  path: string,
  reading: ContentReading,
  first = 0,
): ContentPart[] =>
  readTextOrParts(
    content,
    path,
    reading.losses,
    (part, partPath, losses) =>
      isAnthropicBlock(part)
        ? readContentBlock(withoutUnreadableMarks(part, partPath, losses), partPath, reading)
        : readPart(part, partPath, losses),
    first,
  )

/**
 * Returns a block of Anthropic's without the cache marks that can't be read, which are reported as
 * lost. Anthropic refuses such a mark, but in a chat it is an unknown member like any other.
 */
function withoutUnreadableMarks(block: JsonObject, path: string, losses: string[]): JsonObject {
  const own = withoutUnreadableMark(block, path, losses)
  if (!Array.isArray(own.content)) return own
  const content = own.content.map((nested: unknown, at) =>
    isObject(nested) ? withoutUnreadableMark(nested, `${path}.content[${at}]`, losses) : nested,
  )
  return { ...own, content }
}

function withoutUnreadableMark(block: JsonObject, path: string, losses: string[]): JsonObject {
  const { cache_control, ...rest } = block
  if (isAbsent(cache_control) || isCacheMark(cache_control)) return block
  addLoss(losses, `${path}.cache_control`)
  return rest
}

const ANTHROPIC_BLOCKS: ReadonlySet<unknown> = new Set([
  ...['tool_use', 'tool_result', 'search_result', 'redacted_thinking', 'compaction'],
])
const BLOCKS_WITH_SOURCE: ReadonlySet<unknown> = new Set(['image', 'document'])

/**
 * Reports whether a part has Anthropic's form. Mistral's parts also have the type `thinking`, but
 * no signature, and those of Qwen also have the type `image`, but no source.
 */
function isAnthropicBlock({ type, source, signature }: JsonObject): boolean {
  if (BLOCKS_WITH_SOURCE.has(type)) return objectOf(source) !== null
  return ANTHROPIC_BLOCKS.has(type) || (type === 'thinking' && (textOf(signature) ?? '') !== '')
}

type PartReader = (part: JsonObject, path: string, losses: string[]) => ContentPart | null

/**
 * For each type of part, the member with the content, and the function that reads the part. Some
 * clients also send texts and images in the form of the Responses API.
 */
const PARTS: ReadonlyMap<string, readonly [member: string, read: PartReader]> = new Map([
  ['text', ['text', readText]],
  ['input_text', ['text', readText]],
  ['output_text', ['text', readText]],
  ['image_url', ['image_url', readImage]],
  ['input_image', ['image_url', readImage]],
  ['input_audio', ['input_audio', readAudio]],
  ['file', ['file', readFile]],
  ['refusal', ['refusal', readRefusedText]],
  ['thinking', ['thinking', readThinkingPart]],
])

function readPart(part: JsonObject, path: string, losses: string[]): readonly ContentPart[] {
  const type = requiredText(part.type, `${path}.type`)
  const [member, read] = PARTS.get(type) ?? []
  if (member === undefined || read === undefined) {
    addLoss(losses, path)
    return []
  }
  addUnreadMembers(part, new Set(['type', 'cache_control', member]), path, losses)
  const content = read(part, path, losses)
  const cache = readCacheMark(part, path, losses)
  if (content === null) {
    if (cache !== null) addLoss(losses, `${path}.cache_control`)
    return []
  }
  if (cache === null) return [content]
  if (content.kind !== 'thinking' && content.kind !== 'refusal') return [{ ...content, cache }]
  addLoss(losses, `${path}.cache_control`)
  return [content]
}

/**
 * Reads the `cache_control` of a part, a message or a tool. Returns null if there is none. A mark
 * that can't be read also gives null, and is reported as lost.
 */
export function readCacheMark(
  marked: JsonObject,
  path: string,
  losses: string[],
): CacheMark | null {
  const { cache_control } = marked
  if (isCacheMark(cache_control)) {
    addUnreadMembers(cache_control, new Set(['type', 'ttl']), `${path}.cache_control`, losses)
    return cache_control.ttl ?? '5m'
  }
  if (!isAbsent(cache_control)) addLoss(losses, `${path}.cache_control`)
  return null
}

type WrittenMark = JsonObject & { readonly ttl?: CacheMark | null }

const LIFETIMES: ReadonlySet<unknown> = new Set([undefined, null, '5m', '1h'])

const isCacheMark = (control: unknown): control is WrittenMark =>
  isObject(control) && control.type === 'ephemeral' && LIFETIMES.has(control.ttl)

/** Reads a part with thinking in Mistral's format. */
function readThinkingPart(part: JsonObject): ContentPart | null {
  const text = textsOfThinking(part.thinking)
  return text === '' ? null : { kind: 'thinking', text }
}

/** Reads an image. Some clients send the URL itself instead of an object with the URL. */
function readImage(part: JsonObject, path: string, losses: string[]): ContentPart {
  const memberPath = `${path}.image_url`
  const image =
    typeof part.image_url === 'string'
      ? { url: part.image_url }
      : requiredObject(part.image_url, memberPath)
  const url = requiredText(image.url, `${memberPath}.url`)
  addUnreadMembers(image, new Set(['url', 'detail']), memberPath, losses)
  const source = readUrl(url, `${memberPath}.url`, 'image/png')
  if (IMAGE_DETAILS.has(image.detail)) {
    return { kind: 'image', source, detail: image.detail as NonNullable<ImagePart['detail']> }
  }
  if (!isAbsent(image.detail)) addLoss(losses, `${memberPath}.detail`)
  return { kind: 'image', source }
}

function readAudio(part: JsonObject, path: string, losses: string[]): ContentPart | null {
  const memberPath = `${path}.input_audio`
  const audio = requiredObject(part.input_audio, memberPath)
  const data = requiredText(audio.data, `${memberPath}.data`)
  addUnreadMembers(audio, new Set(['data', 'format']), memberPath, losses)
  if (isWebUrl(data)) {
    addLoss(losses, path)
    return null
  }
  const content = readDataUrl(data)
  const format = textOf(audio.format)
  const named = format === null ? '' : mediaTypeOfAudio(format)
  const mediaType = named || content?.mediaType || ''
  if (mediaType !== '') return { kind: 'audio', mediaType, data: content?.data ?? data }
  throw new ConversionError(`${memberPath}.format`, 'The audio format is missing.')
}

/**
 * Reads a file. The part contains the id of the file at the provider, a data URL, plain base64 or a
 * web address.
 */
function readFile(part: JsonObject, path: string, losses: string[]): ContentPart {
  const memberPath = `${path}.file`
  const file = requiredObject(part.file, memberPath)
  addUnreadMembers(file, new Set(['file_id', 'file_data', 'filename']), memberPath, losses)
  const name = optionalText(file.filename, `${memberPath}.filename`)
  const source = readFileSource(file, memberPath)
  return { kind: 'document', source, ...(name === null ? {} : { name }) }
}

function readFileSource(file: JsonObject, path: string): FileSource {
  const data = optionalText(file.file_data, `${path}.file_data`)
  if (data === null) return { kind: 'file-id', id: requiredText(file.file_id, `${path}.file_id`) }
  if (!data.startsWith('data:') && !isWebUrl(data)) {
    return { kind: 'base64', mediaType: DOCUMENT_TYPE, data }
  }
  return readUrl(data, `${path}.file_data`, DOCUMENT_TYPE)
}

/**
 * Returns the signature of a tool call, which Gemini puts into `extra_content`. Returns null if the
 * call has no signature.
 */
export function callSignature(call: JsonObject): string | null {
  const google = objectOf(objectOf(call.extra_content)?.google)
  return textOf(google?.thought_signature) || null
}
