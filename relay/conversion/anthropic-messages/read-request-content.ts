import { isObject, listOf, objectOf } from '#relay/canonical/json-values.ts'
import {
  type CacheMark,
  type ContentPart,
  ConversionError,
  type FileSource,
  type ToolResultPart,
} from '../../canonical/canonical-request.ts'
import { withCallerPath } from '../caller-paths-of-canonical-parts.ts'
import { checkToolParts } from '../check-roles-of-tool-parts.ts'
import { callSignatureIn, unwrapSignature } from '../wrap-signature-of-other-provider.ts'
import { RequestObject } from './read-members-and-report-unread.ts'

/** The state that is shared while all blocks of one request are read. */
export type ContentReading = {
  readonly losses: string[]
  /** The names of the tool calls that were read so far, by call id. */
  readonly toolNames: Map<string, string>
  /**
   * The signatures of tool calls, by call id. Each comes from a block before the call: see
   * `signatureBlock`. A signature is used for one call only. Several calls with the same id would
   * repeat it, so that a short request could become much longer than its hold covers.
   */
  readonly callSignatures: Map<string, string>
}

/**
 * Reads a `content` member, whose value is a text or an array of blocks. The blocks before the
 * index `first` are left out.
 */
export function readContent(
  value: unknown,
  path: string,
  reading: ContentReading,
  first = 0,
): readonly ContentPart[] {
  if (value === null || value === undefined || value === '') return []
  if (typeof value === 'string') return [withCallerPath({ kind: 'text', text: value }, path)]
  if (!Array.isArray(value)) {
    throw new ConversionError(path, 'The content must be a string or an array of blocks.')
  }
  return value.flatMap((item: unknown, index) =>
    index < first ? [] : readContentBlock(item, `${path}[${index}]`, reading),
  )
}

/** Reads one block of a `content`. Returns no part for a block that is reported as lost. */
export function readContentBlock(
  item: unknown,
  path: string,
  reading: ContentReading,
): readonly ContentPart[] {
  const block = new RequestObject(item, path, reading.losses)
  if (readCallSignature(block, reading)) return []
  const part = readBlock(block, reading)
  if (part === null) {
    block.loseAll()
    return []
  }
  block.reportUnread()
  return [withCallerPath(part, path)]
}

/**
 * Returns an object with the member `cache` if the object has a `cache_control`. Otherwise, returns
 * an empty object. Throws a `ConversionError` for an unknown type or lifetime.
 */
export function readCacheMark(object: RequestObject): { readonly cache?: CacheMark } {
  const control = object.object('cache_control')
  if (control === null) return {}
  const type = control.requiredText('type')
  const ttl = control.text('ttl') ?? '5m'
  control.reportUnread()
  if (type === 'ephemeral' && (ttl === '5m' || ttl === '1h')) return { cache: ttl }
  throw new ConversionError(
    object.pathOf('cache_control'),
    'The cache control must be ephemeral, for 5m or 1h.',
  )
}

/**
 * If the gateway made this block to hold the signature of a tool call, stores the signature and
 * returns true. Otherwise, returns false.
 */
function readCallSignature(block: RequestObject, { callSignatures }: ContentReading): boolean {
  if (block.any('type') !== 'redacted_thinking') return false
  const kept = callSignatureIn(unwrapSignature(block.requiredText('data')))
  if (kept !== null) callSignatures.set(kept.callId, kept.callSignature)
  return kept !== null
}

/**
 * Reads one block. Returns null for a block without a canonical form, such as the call of a tool
 * that the provider runs.
 */
function readBlock(block: RequestObject, reading: ContentReading): ContentPart | null {
  switch (block.requiredText('type')) {
    case 'text':
      return readText(block)
    case 'image':
      return readImage(block)
    case 'document':
      return readDocument(block, reading)
    case 'search_result':
      return readSearchResult(block, reading)
    case 'thinking':
      return readThinking(block)
    case 'redacted_thinking':
      return { kind: 'thinking', text: '', redacted: block.requiredText('data') }
    case 'tool_use':
      return readToolCall(block, reading)
    case 'tool_result':
      return readToolResult(block, reading)
    case 'compaction':
      return readCompaction(block)
    default:
      return null
  }
}

function readText(block: RequestObject): ContentPart {
  if ((block.list('citations') ?? []).length > 0) block.lose('citations')
  return { kind: 'text', text: block.requiredText('text'), ...readCacheMark(block) }
}

function readImage(block: RequestObject): ContentPart | null {
  const object = block.required('source', block.object('source'))
  const source = readSource(object)
  object.reportUnread()
  return source === null ? null : { kind: 'image', source, ...readCacheMark(block) }
}

function readDocument(block: RequestObject, reading: ContentReading): ContentPart | null {
  const object = block.required('source', block.object('source'))
  const path = block.pathOf('source.content')
  const source = readSource(object) ?? readInlineDocument(object, path, reading)
  if (source === null) return null
  object.reportUnread()
  const citations = block.object('citations')
  if (citations?.flag('enabled') === true) block.lose('citations')
  citations?.reportUnread()
  const title = block.text('title')
  return {
    kind: 'document',
    source,
    ...(title !== null && { name: title }),
    ...readCacheMark(block),
  }
}

/**
 * Reads a search result in the caller's request as a text that begins with the result's title. The
 * result's address is reported as lost, because the address would not be counted as input. Returns
 * null unless the content consists of one or more texts.
 */
function readSearchResult(block: RequestObject, reading: ContentReading): ContentPart | null {
  const texts = plainTexts(block.any('content'), block.pathOf('content'), reading)
  if (texts === null || texts.length === 0) return null
  const citations = block.object('citations')
  if (citations?.flag('enabled') === true) block.lose('citations')
  citations?.reportUnread()
  const text = [block.text('title') ?? '', ...texts].filter((one) => one !== '').join('\n\n')
  return { kind: 'text', text, ...readCacheMark(block) }
}

/**
 * Returns the texts of a `content` that contains only texts. Returns null for a list with other
 * blocks, because texts that are nested more deeply in them would not count towards the input limit
 * of a channel. Throws a `ConversionError` for a value of a wrong type.
 */
function plainTexts(
  value: unknown,
  path: string,
  { losses }: ContentReading,
): readonly string[] | null {
  if (value === null || value === undefined || value === '') return []
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) {
    throw new ConversionError(path, 'The content must be a string or an array of blocks.')
  }
  if (!value.every((item) => isObject(item) && item.type === 'text')) return null
  return value.map((item: unknown, index) => {
    const block = new RequestObject(item, `${path}[${index}]`, losses)
    block.any('type')
    if ((block.list('citations') ?? []).length > 0) block.lose('citations')
    const text = block.requiredText('text')
    block.reportUnread()
    return text
  })
}

/** Reports whether a block has the summary of a compaction. A failed compaction has none. */
const isSummary = (block: unknown): boolean =>
  isObject(block) &&
  block.type === 'compaction' &&
  typeof block.content === 'string' &&
  block.content !== ''

/**
 * Returns the indexes of the last summary of a compaction. Both are 0 if there is none. The summary
 * takes the place of all content before it.
 */
export function findLastSummary(messages: readonly unknown[]): { message: number; block: number } {
  for (let message = messages.length - 1; message >= 0; message -= 1) {
    const block = listOf(objectOf(messages[message])?.content).findLastIndex(isSummary)
    if (block >= 0) return { message, block }
  }
  return { message: 0, block: 0 }
}

/** Reads the summary of a compaction as a text. Returns null if there is none. */
function readCompaction(block: RequestObject): ContentPart | null {
  const text = block.text('content') ?? ''
  return text === '' ? null : { kind: 'text', text, ...readCacheMark(block) }
}

function readSource(source: RequestObject): FileSource | null {
  switch (source.requiredText('type')) {
    case 'base64':
      return {
        kind: 'base64',
        mediaType: source.requiredText('media_type'),
        data: source.requiredText('data'),
      }
    case 'url':
      return { kind: 'url', url: source.requiredText('url') }
    case 'file':
      return { kind: 'file-id', id: source.requiredText('file_id') }
    case 'text':
      // The media type is always `text/plain`.
      source.any('media_type')
      return { kind: 'text', text: source.requiredText('data') }
    default:
      return null
  }
}

/**
 * Reads a document whose source has the type `content`. Only the texts in the source have a
 * canonical form. Returns null for a source of another type.
 */
function readInlineDocument(
  source: RequestObject,
  path: string,
  reading: ContentReading,
): FileSource | null {
  if (source.text('type') !== 'content') return null
  const texts = plainTexts(source.any('content'), path, reading)
  return texts === null ? null : { kind: 'text', text: texts.join('\n\n') }
}

function readThinking(block: RequestObject): ContentPart {
  const signature = block.text('signature')
  const hasSignature = signature !== null && signature !== ''
  return {
    kind: 'thinking',
    text: block.text('thinking') ?? '',
    ...(hasSignature && { signature }),
  }
}

function readToolCall(block: RequestObject, reading: ContentReading): ContentPart {
  const id = block.requiredText('id')
  const name = block.requiredText('name')
  const input = block.any('input') ?? {}
  if (!isObject(input)) {
    throw new ConversionError(block.pathOf('input'), 'The input of a tool must be an object.')
  }
  // Clients send back the `caller` of a call. The value `direct` means the model itself. Any other
  // value is reported as lost.
  const caller = block.object('caller')
  if ((caller?.text('type') ?? 'direct') !== 'direct') block.lose('caller')
  else caller?.reportUnread()
  reading.toolNames.set(id, name)
  const signature = reading.callSignatures.get(id)
  reading.callSignatures.delete(id)
  return {
    kind: 'tool-call',
    id,
    name,
    argumentsJson: JSON.stringify(input),
    ...(signature !== undefined && { signature }),
    ...readCacheMark(block),
  }
}

function readToolResult(block: RequestObject, reading: ContentReading): ToolResultPart {
  const callId = block.requiredText('tool_use_id')
  const parts = readContent(block.any('content'), block.pathOf('content'), reading)
  checkToolParts(parts, block.pathOf('content'), null)
  return {
    kind: 'tool-result',
    callId,
    name: reading.toolNames.get(callId) ?? '',
    parts,
    isError: block.flag('is_error') ?? false,
    ...readCacheMark(block),
  }
}
