import type { JsonObject } from '#relay/canonical/json-values.ts'
import type {
  CacheMark,
  ContentPart,
  FileSource,
  ImagePart,
} from '../../canonical/canonical-request.ts'
import { addLoss, addUnreadMembers } from '../collect-losses.ts'
import { readDataUrl } from '../data-url.ts'
import {
  isAbsent,
  optionalObject,
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

/** Reads the content of a message, or the output of a tool. */
export const readContent = (content: unknown, path: string, losses: string[]): ContentPart[] =>
  readTextOrParts(content, path, losses, readPart)

type PartReader = (part: JsonObject, path: string, losses: string[]) => ContentPart | null

/**
 * For each type of part, the function that reads the part, and the members that this function
 * reads.
 */
const PARTS: ReadonlyMap<string, readonly [read: PartReader, ...members: string[]]> = new Map([
  ['input_text', [readText, 'text']],
  ['output_text', [readOutputText, 'text', 'annotations', 'logprobs', 'parsed']],
  ['text', [readText, 'text']],
  ['refusal', [readRefusedText, 'refusal']],
  ['input_image', [readImage, 'image_url', 'file_id', 'detail']],
  ['input_file', [readFile, 'file_data', 'file_url', 'file_id', 'filename']],
  ['input_audio', [readAudio, 'input_audio']],
])

function readPart(part: JsonObject, path: string, losses: string[]): readonly ContentPart[] {
  const type = requiredText(part.type, `${path}.type`)
  const [read, ...members] = PARTS.get(type) ?? []
  if (read === undefined) {
    addLoss(losses, path)
    return []
  }
  const breakpoint = 'prompt_cache_breakpoint'
  addUnreadMembers(part, new Set(['type', breakpoint, ...members]), path, losses)
  const content = read(part, path, losses)
  const cache = readCacheMark(part, path, losses)
  if (content !== null && cache === null) return [content]
  if (content !== null && content.kind !== 'refusal' && content.kind !== 'thinking') {
    return [{ ...content, cache: cache ?? '5m' }]
  }
  if (cache !== null) addLoss(losses, `${path}.${breakpoint}`)
  return content === null ? [] : [content]
}

/** Reads a cache breakpoint as a cache mark with the shortest lifetime, which costs the least. */
function readCacheMark(part: JsonObject, path: string, losses: string[]): CacheMark | null {
  const memberPath = `${path}.prompt_cache_breakpoint`
  const breakpoint = optionalObject(part.prompt_cache_breakpoint, memberPath)
  if (breakpoint === null) return null
  addUnreadMembers(breakpoint, new Set(['mode']), memberPath, losses)
  return '5m'
}

function readOutputText(part: JsonObject, path: string, losses: string[]): ContentPart | null {
  const { annotations } = part
  if (Array.isArray(annotations) && annotations.length > 0) addLoss(losses, `${path}.annotations`)
  return readText(part, path)
}

/** The detail level above `high`, which other formats do not have. */
const ORIGINAL = 'original'

function readImage(part: JsonObject, path: string, losses: string[]): ContentPart {
  const source = readImageSource(part, path)
  const detail = part.detail === ORIGINAL ? 'high' : part.detail
  if (part.detail === ORIGINAL) addLoss(losses, `${path}.detail`)
  if (IMAGE_DETAILS.has(detail)) {
    return { kind: 'image', source, detail: detail as NonNullable<ImagePart['detail']> }
  }
  if (!isAbsent(detail)) addLoss(losses, `${path}.detail`)
  return { kind: 'image', source }
}

function readImageSource(part: JsonObject, path: string): FileSource {
  const url = optionalText(part.image_url, `${path}.image_url`)
  if (url !== null) return readUrl(url, `${path}.image_url`, 'image/png')
  return { kind: 'file-id', id: requiredText(part.file_id, `${path}.image_url`) }
}

/**
 * Reads a file. The part contains a data URL, plain base64, a web address, or the id of the file at
 * the provider.
 */
function readFile(part: JsonObject, path: string): ContentPart {
  const name = optionalText(part.filename, `${path}.filename`)
  return {
    kind: 'document',
    source: readFileSource(part, path),
    ...(name === null ? {} : { name }),
  }
}

function readFileSource(part: JsonObject, path: string): FileSource {
  const data = optionalText(part.file_data, `${path}.file_data`)
  if (data?.startsWith('data:')) return readUrl(data, `${path}.file_data`, DOCUMENT_TYPE)
  if (data !== null) return { kind: 'base64', mediaType: DOCUMENT_TYPE, data }
  const url = optionalText(part.file_url, `${path}.file_url`)
  if (url !== null) return readUrl(url, `${path}.file_url`, DOCUMENT_TYPE)
  return { kind: 'file-id', id: requiredText(part.file_id, `${path}.file_id`) }
}

function readAudio(part: JsonObject, path: string, losses: string[]): ContentPart {
  const memberPath = `${path}.input_audio`
  const audio = requiredObject(part.input_audio, memberPath)
  addUnreadMembers(audio, new Set(['data', 'format']), memberPath, losses)
  const format = requiredText(audio.format, `${memberPath}.format`)
  const data = requiredText(audio.data, `${memberPath}.data`)
  const mediaType = mediaTypeOfAudio(format)
  return { kind: 'audio', mediaType, data: readDataUrl(data)?.data ?? data }
}
