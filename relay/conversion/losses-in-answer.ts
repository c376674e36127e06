import {
  type JsonObject,
  objectOf,
  objectOrEmpty,
  objectsOf,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import type { AnswerPart, CanonicalEvent } from '../canonical/canonical-answer.ts'
import type { ConvertedFormatName } from '../dialects/wire-format.ts'
import type { ProviderFormatName } from './format-conversion.ts'
import { pictureAsMarkdown } from './gemini/pictures-as-markdown.ts'

/**
 * Collects the names of content in one answer that the caller's format can't express. `answer
 * (citations)` is such a name. The events of a stream are read while they are converted.
 */
export class LossesInAnswer {
  private readonly format: ProviderFormatName
  private readonly caller: ConvertedFormatName
  private readonly names = new Set<string>()

  /** `format` is the provider's format, and `caller` is the caller's format. */
  constructor(format: ProviderFormatName, caller: ConvertedFormatName) {
    this.format = format
    this.caller = caller
  }

  get list(): readonly string[] {
    return [...this.names]
  }

  /**
   * Removes the names that an earlier attempt has added, because the caller did not get the answer
   * of that attempt.
   */
  clear(): void {
    this.names.clear()
  }

  /** Reads a complete answer, or the data of one event of a stream. */
  read(data: JsonObject): void {
    for (const name of LOST_IN[this.format](data)) this.add(name)
  }

  /**
   * Adds the name of the kind of a canonical part or event if the caller's format can't express
   * this kind.
   */
  readPart({ kind }: AnswerPart | CanonicalEvent): void {
    // All formats of callers except completions can express thinking.
    if (this.caller === 'completions' && kind.startsWith('thinking')) this.add('thinking')
  }

  /**
   * Adds a name, unless the list is full. The provider chooses the names. Therefore, at most
   * `NAMES_MAX` names are kept, and a name that does not match `NAME` becomes `other`.
   */
  private add(name: string): void {
    if (this.names.size === NAMES_MAX) return
    this.names.add(`answer (${NAME.test(name) ? name : 'other'})`)
  }
}

const NAMES_MAX = 10
const NAME = /^\w{1,40}$/

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0

/** Returns those of `members` whose value in `object` is a list with elements. */
const filledOf = (object: JsonObject, members: readonly string[]): readonly string[] =>
  members.filter((member) => isFilled(object[member]))

/** The members in which Perplexity's answers list their sources. They are next to `choices`. */
const SOURCES = ['citations', 'search_results']
const MESSAGE_LISTS = ['annotations', 'images']

function lostInChat(data: JsonObject): readonly string[] {
  const lost = objectsOf(data.choices).flatMap(({ message, delta }) => {
    const content = objectOf(message) ?? objectOrEmpty(delta)
    const isSpoken = typeof objectOf(content.audio)?.data === 'string'
    return [...filledOf(content, MESSAGE_LISTS), ...(isSpoken ? ['audio'] : [])]
  })
  return [...lost, ...filledOf(data, SOURCES)]
}

const READ_BLOCKS: ReadonlySet<unknown> = new Set([
  ...['text', 'thinking', 'redacted_thinking', 'tool_use'],
])

function lostInBlock(block: JsonObject): readonly string[] {
  const { type, citations } = block
  if (!READ_BLOCKS.has(type)) return [textOrEmpty(type)]
  return isFilled(citations) ? ['citations'] : []
}

function lostInMessage({ type, content, content_block, delta }: JsonObject): readonly string[] {
  if (type === 'content_block_start') return lostInBlock(objectOrEmpty(content_block))
  if (type === 'content_block_delta') {
    return objectOf(delta)?.type === 'citations_delta' ? ['citations'] : []
  }
  return objectsOf(content).flatMap(lostInBlock)
}

const PARTS_WITHOUT_TEXT = ['executableCode', 'codeExecutionResult', 'fileData']

function lostInPart(part: JsonObject): readonly string[] {
  const lost = PARTS_WITHOUT_TEXT.filter((member) => objectOf(part[member]) !== null)
  const data = objectOf(part.inlineData)
  if (data === null) return lost
  // Pictures in thoughts are drafts and are left out.
  const isRead = part.thought !== true && pictureAsMarkdown(data) !== null
  return isRead ? lost : [...lost, 'inlineData']
}

/** The members of `groundingMetadata` that list sources and searches. */
const GROUNDING = ['groundingChunks', 'webSearchQueries', 'imageSearchQueries']

function lostInCandidate(candidate: JsonObject): readonly string[] {
  const { content, groundingMetadata, citationMetadata, urlContextMetadata } = candidate
  const parts = objectsOf(objectOf(content)?.parts).flatMap(lostInPart)
  const isGrounded = filledOf(objectOrEmpty(groundingMetadata), GROUNDING).length > 0
  const hasReadUrls = isFilled(objectOf(urlContextMetadata)?.urlMetadata)
  const citations = objectOrEmpty(citationMetadata)
  const isCited = isFilled(citations.citationSources) || isFilled(citations.citations)
  return [
    ...parts,
    ...(isGrounded ? ['groundingMetadata'] : []),
    ...(isCited ? ['citationMetadata'] : []),
    ...(hasReadUrls ? ['urlContextMetadata'] : []),
  ]
}

const READ_ITEMS: ReadonlySet<unknown> = new Set([
  ...['message', 'reasoning', 'function_call', 'custom_tool_call'],
])

function lostInItem({ type, content }: JsonObject): readonly string[] {
  if (!READ_ITEMS.has(type)) return [textOrEmpty(type)]
  const isAnnotated = objectsOf(content).some(({ annotations }) => isFilled(annotations))
  return isAnnotated ? ['annotations'] : []
}

function lostInResponse({ type, item, output }: JsonObject): readonly string[] {
  if (type === 'response.output_item.done') return lostInItem(objectOrEmpty(item))
  return objectsOf(output).flatMap(lostInItem)
}

const LOST_IN: Readonly<Record<ProviderFormatName, (data: JsonObject) => readonly string[]>> = {
  chat: lostInChat,
  messages: lostInMessage,
  responses: lostInResponse,
  gemini: ({ candidates }) => objectsOf(candidates).flatMap(lostInCandidate),
}
