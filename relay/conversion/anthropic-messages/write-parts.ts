import { isOfOtherFormat } from '#relay/canonical/thinking-signature-prefixes.ts'
import type {
  CacheMark,
  CanonicalTool,
  ContentPart,
  DocumentPart,
  FileSource,
  ImagePart,
  ToolCallPart,
  ToolResultPart,
} from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import { toStructuredOutputSchema } from './structured-output-schema.ts'
import { type Block, toolInputOf } from './write-tool-input.ts'

/** Anthropic accepts at most four cache marks per request. */
const MARKS_MAX = 4

/** The state that is shared while all parts of one request are written. */
export class RequestWriting {
  readonly losses: string[] = []
  readonly ids = new ToolCallIds()
  private readonly marked: { readonly block: Block; readonly path: string }[] = []

  mark(block: Block, cache: CacheMark | undefined, path: string): Block {
    if (cache === undefined) return block
    block.cache_control = { type: 'ephemeral', ...(cache === '1h' && { ttl: cache }) }
    this.marked.push({ block, path })
    return block
  }

  /**
   * Keeps only the last `MARKS_MAX` cache marks, because they cover the longest prefixes of the
   * prompt. The other marks are reported as lost.
   */
  limitMarks(): void {
    for (const { block, path } of this.marked.slice(0, -MARKS_MAX)) {
      delete block.cache_control
      addLoss(this.losses, `${path}.cache`)
    }
  }
}

/**
 * Writes one part of a message. Returns null for a part that was reported as lost, and for blank
 * text, which Anthropic refuses.
 */
export function writePart(
  part: ContentPart,
  role: 'user' | 'assistant',
  path: string,
  writing: RequestWriting,
): Block | null {
  const block = blockOf(part, role, path, writing)
  if (block !== null) {
    return 'cache' in part ? writing.mark(block, part.cache, path) : block
  }
  const isBlank = (part.kind === 'text' || part.kind === 'refusal') && part.text.trim() === ''
  if (!isBlank) addLoss(writing.losses, `${path} (${part.kind})`)
  return null
}

function blockOf(
  part: ContentPart,
  role: 'user' | 'assistant',
  path: string,
  writing: RequestWriting,
): Block | null {
  const isUser = role === 'user'
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return writeText(part.text)
    case 'image':
      return isUser ? writeImage(part, path, writing) : null
    case 'document':
      return isUser ? writeDocument(part) : null
    case 'thinking':
      return isUser ? null : writeThinkingBlock(part)
    case 'tool-call':
      return isUser ? null : writeToolCall(part, path, writing)
    case 'tool-result':
      return isUser ? writeToolResult(part, path, writing) : null
    case 'audio':
      return null
  }
}

const writeText = (text: string): Block | null =>
  text.trim() === '' ? null : { type: 'text', text }

/**
 * Writes thinking. Returns null for thinking without a signature and for thinking in another
 * provider's format, because Anthropic checks the signature.
 */
function writeThinkingBlock(part: ContentPart & { kind: 'thinking' }): Block | null {
  const { text, signature, redacted } = part
  const made = redacted ?? signature ?? ''
  if (made === '' || isOfOtherFormat(made)) return null
  if (redacted !== undefined) return { type: 'redacted_thinking', data: redacted }
  return { type: 'thinking', thinking: text, signature: made }
}

function writeToolCall(part: ToolCallPart, path: string, writing: RequestWriting): Block {
  const { input, isValid } = toolInputOf(part.argumentsJson)
  if (!isValid) addLoss(writing.losses, `${path}.argumentsJson`)
  if (part.signature !== undefined) addLoss(writing.losses, `${path}.signature`)
  return { type: 'tool_use', id: writing.ids.forCall(part.id), name: part.name, input }
}

function writeToolResult(part: ToolResultPart, path: string, writing: RequestWriting): Block {
  const content = part.parts.flatMap((inner, index) => {
    const innerPath = `${path}.parts[${index}]`
    if (inner.kind !== 'tool-result') {
      const block = writePart(inner, 'user', innerPath, writing)
      return block === null ? [] : [block]
    }
    addLoss(writing.losses, `${innerPath} (${inner.kind})`)
    return []
  })
  // An error result must have content, and the content must consist of texts.
  if (part.isError && content.length === 0) content.push({ type: 'text', text: 'Error' })
  const isTextOnly = content.every(({ type }) => type === 'text')
  if (part.isError && !isTextOnly) addLoss(writing.losses, `${path}.isError`)
  return {
    type: 'tool_result',
    tool_use_id: writing.ids.forResult(part.callId),
    ...(content.length > 0 && { content: simplifiedContent(content) }),
    ...(part.isError && isTextOnly && { is_error: true }),
  }
}

/**
 * Returns the text if the content is one text without a cache mark, because every provider
 * understands a string. Otherwise, returns the content unchanged.
 */
export function simplifiedContent(content: readonly Block[]): string | readonly Block[] {
  const [first] = content
  const isText = content.length === 1 && first?.type === 'text' && first.cache_control === undefined
  return isText ? String(first.text) : content
}

function writeImage(part: ImagePart, path: string, writing: RequestWriting): Block | null {
  const source = writeSource(part.source)
  if (source === null || source.type === 'text') return null
  if (part.detail !== undefined && part.detail !== 'auto') addLoss(writing.losses, `${path}.detail`)
  const { media_type: mediaType } = source
  return {
    type: 'image',
    source: mediaType === 'image/jpg' ? { ...source, media_type: 'image/jpeg' } : source,
  }
}

/**
 * Writes a document. In base64, Anthropic accepts only PDF. A text in base64 becomes plain text,
 * and an image becomes an image block. Returns null for any other media type, for a blank text, and
 * for a data URL that is not in base64.
 */
function writeDocument(part: DocumentPart): Block | null {
  const source = writeSource(part.source)
  if (source === null) return null
  const title = part.name === undefined || part.name === '' ? {} : { title: part.name }
  if (source.type !== 'base64') return { type: 'document', source, ...title }
  const mediaType = String(source.media_type).toLowerCase()
  if (mediaType === 'application/pdf') return { type: 'document', source, ...title }
  if (mediaType.startsWith('image/')) return { type: 'image', source }
  if (!/^text\/|^application\/(?:json|xml|yaml)\b/.test(mediaType)) return null
  const text = Buffer.from(String(source.data), 'base64').toString('utf8')
  return { type: 'document', source: textSource(text), ...title }
}

const textSource = (data: string): Block => ({ type: 'text', media_type: 'text/plain', data })

const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*),/i

function writeSource(source: FileSource): Block | null {
  switch (source.kind) {
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data }
    case 'file-id':
      return { type: 'file', file_id: source.id }
    case 'text':
      return source.text.trim() === '' ? null : textSource(source.text)
    case 'url':
      return /^data:/i.test(source.url)
        ? sourceOfDataUrl(source.url)
        : { type: 'url', url: source.url }
  }
}

/** Returns the source for a data URL. Returns null if the data in the URL is not in base64. */
function sourceOfDataUrl(url: string): Block | null {
  const [prefix, mediaType = '', options = ''] = DATA_URL.exec(url) ?? []
  if (prefix === undefined || !options.toLowerCase().endsWith(';base64')) return null
  return { type: 'base64', media_type: mediaType, data: url.slice(prefix.length) }
}

/**
 * Writes a tool that the caller runs. A schema without a type gets the type `object`, because
 * Anthropic requires the schema of an object.
 */
export function writeTool(tool: CanonicalTool, path: string, writing: RequestWriting): Block {
  const object = { ...(tool.schema.type === undefined && { type: 'object' }), ...tool.schema }
  const isStrict = tool.isStrict === true
  const { schema, isWeaker } = isStrict
    ? toStructuredOutputSchema(object)
    : { schema: object, isWeaker: false }
  if (isWeaker) addLoss(writing.losses, `${path}.schema (constraints)`)
  const block = {
    name: tool.name,
    ...(tool.description !== '' && { description: tool.description }),
    input_schema: schema,
    ...(isStrict && { strict: true }),
  }
  return writing.mark(block, tool.cache, path)
}

/**
 * Makes the ids of tool calls unique, and restricts them to the characters that Anthropic accepts:
 * letters, digits, `_` and `-`. If several calls have the same original id, a result gets the new
 * id of the last of these calls.
 */
class ToolCallIds {
  private readonly written = new Map<string, string>()
  private readonly taken = new Set<string>()
  private readonly copies = new Map<string, number>()

  forCall(id: string): string {
    const base = allowed(id)
    let unique = base
    while (this.taken.has(unique)) {
      const copy = (this.copies.get(base) ?? 1) + 1
      this.copies.set(base, copy)
      unique = `${base}_${copy}`
    }
    this.taken.add(unique)
    this.written.set(id, unique)
    return unique
  }

  forResult(callId: string): string {
    return this.written.get(callId) ?? allowed(callId)
  }
}

const allowed = (id: string): string => (id === '' ? 'call' : id.replaceAll(/[^\w-]/g, '_'))
