import {
  hasFile,
  isBookkeeping,
  parsedText,
  searchBudget,
} from '../canonical/files-in-unread-members.ts'
import { isObject } from '../canonical/json-values.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { conversionLimitError, lengthLimitError } from '../conversion/conversion-limits.ts'
import { LossReader, type ValueOfLoss } from '../conversion/value-of-loss.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import { isImageModel } from '../providers/profiles/image-endpoints.ts'
import type { RequestForModel } from './adapt-image-request.ts'

type Omitting = RequestForModel & {
  readonly dropped: readonly string[]
  readonly losses: readonly string[]
}

/** Members whose JSON schemas may contain addresses as examples. */
const WITH_SCHEMAS: ReadonlySet<string> = new Set([
  ...['tools', 'functions', 'response_format', 'text', 'output_config', 'output_format'],
  ...['generationConfig', 'generation_config'],
])
/** The member in which clients of OpenAI's API send members of other APIs. */
const EXTRA = 'extra_body'
/** Matches the losses of a picture, a video or a sound, such as `contents[0].parts[1] (audio)`. */
const LOST_MEDIA = /(?:\]|\.inlineData|\.fileData) \((?:image|audio|video)(?:\/.*)?\)$/s
/** Matches the losses within the conversation, except a message as a whole, and in `EXTRA`. */
const LOST_VALUE =
  /^(?:extra_body\.|(?:input|system)\[|(?:messages|contents)\[\d+\]\.|systemInstruction\.)/
/** Matches the losses of a member of a message that is not its content. */
const MEMBER_OF_MESSAGE = /^(messages|contents|input)(\[\d+\])\.(?!content\b|parts\b)[^.[]+$/
/** The maximum length of a loss that is searched. The caller determines how long a loss is. */
const PATH_LENGTH_MAX = 256

/**
 * Returns the error if a candidate lacks a member of the caller's request that contains a picture,
 * a video or a sound, or null. Without this file, the provider would generate another image, which
 * the caller would have to pay. Chats with models that generate images are checked as well.
 */
export function unreadFileError(candidate: Omitting, request: ChatRequest): RelayError | null {
  const {
    request: { model },
    upstreamModel,
  } = candidate
  if (request.imageFactor === undefined && !isImageModel(upstreamModel ?? model)) return null
  const search = SEARCHES.get(request.body) ?? new FileSearch()
  SEARCHES.set(request.body, search)
  const param = new UnreadFiles(request, search).find(candidate)
  return param === undefined
    ? null
    : relayError('not_convertible', { param: param.slice(0, PATH_LENGTH_MAX) })
}

/** Finds the first file that is not sent, and returns the path of its member. */
class UnreadFiles {
  private readonly request: ChatRequest
  private readonly search: FileSearch
  private readonly reader: LossReader
  /** Each member is parsed once. Its value is not kept for later calls, because it is large. */
  private readonly roots = new Map<string, unknown>()

  constructor(request: ChatRequest, search: FileSearch) {
    this.request = request
    this.search = search
    this.reader = new LossReader(request.format.name.startsWith('gemini'))
  }

  find({ dropped, losses }: Omitting): string | undefined {
    const member = this.inMembers(new Set([...dropped, ...losses]))
    return member ?? losses.find((loss) => this.isLostFile(loss))
  }

  private inMembers(omitted: ReadonlySet<string>): string | undefined {
    const { members, body } = this.request
    for (const { key, kind, valueStart, valueEnd } of members) {
      if (kind === 'null' || !this.reader.isNamed(key, omitted)) continue
      if (isBookkeeping(key) || WITH_SCHEMAS.has(key)) continue
      const file = this.search.fileIn(key, body.subarray(valueStart, valueEnd))
      if (file !== null) return file
    }
    return undefined
  }

  private isLostFile(loss: string): boolean {
    if (loss.length > PATH_LENGTH_MAX) return false
    const [key = ''] = loss.split(/[.[]/, 1)
    if (LOST_MEDIA.test(loss) && key !== EXTRA) {
      const path = loss.slice(key.length, loss.lastIndexOf(' ('))
      return this.search.isFound(`media ${path}`, () => !this.valueAt(key, path).isOfModel)
    }
    const name = loss.slice(loss.lastIndexOf('.') + 1)
    if (!LOST_VALUE.test(loss) || (key === EXTRA && isBookkeeping(name))) return false
    const isLost = this.search.isFileWithin(loss, name, () => {
      const { value, isOfModel } = this.valueAt(key, loss.slice(key.length))
      return isOfModel ? undefined : value
    })
    return isLost && !this.isBesideFile(loss)
  }

  /**
   * Reports whether a loss is a member of a message whose content has a file. Clients list files
   * beside the content that they also send in it. If the content is lost, it is a loss itself.
   */
  private isBesideFile(loss: string): boolean {
    const [message, key = '', index = ''] = MEMBER_OF_MESSAGE.exec(loss) ?? []
    if (message === undefined) return false
    return ['content', 'parts'].some((name) =>
      this.search.isFileWithin(`${key}${index}.${name}`, name, () => {
        const { value } = this.valueAt(key, `${index}.${name}`)
        return Array.isArray(value) ? value : undefined
      }),
    )
  }

  private valueAt(key: string, path: string): ValueOfLoss {
    return this.reader.valueAt(this.rootOf(key), path)
  }

  private rootOf(key: string): unknown {
    if (!this.roots.has(key)) {
      const names = new Set([key])
      const { members, body } = this.request
      const member = members.find((one) => this.reader.isNamed(one.key, names))
      const json = member && body.subarray(member.valueStart, member.valueEnd)
      const isRead = json !== undefined && conversionLimitError(json) === null
      this.roots.set(key, isRead ? JSON.parse(json.toString('utf8')) : undefined)
    }
    return this.roots.get(key)
  }
}

/**
 * Searches one request for files. The results are kept, because the request is searched for each
 * channel and for each attempt.
 */
class FileSearch {
  private readonly budget = searchBudget()
  private readonly results = new Map<string, string | null>()
  private bytes = 0

  /**
   * Returns the path of the file in a member, or null. A member counts as a file if it is too long
   * or too wide to be searched.
   */
  fileIn(key: string, json: Buffer): string | null {
    return this.once(`member ${key}`, () => {
      this.bytes += json.length
      if ((lengthLimitError(this.bytes) ?? conversionLimitError(json)) !== null) return key
      const value: unknown = JSON.parse(json.toString('utf8'))
      return key === EXTRA ? this.fileInExtra(value) : this.pathOfFile(key, key, value)
    })
  }

  isFileWithin(path: string, name: string, read: () => unknown): boolean {
    return this.isFound(`loss ${path}`, () => hasFile(name, read(), this.budget))
  }

  isFound(place: string, find: () => boolean): boolean {
    return this.once(place, () => (find() ? place : null)) !== null
  }

  /** Searches the members of `EXTRA` like those of the request itself. */
  private fileInExtra(value: unknown): string | null {
    const extra = parsedText(value, this.budget)
    if (!isObject(extra)) return this.pathOfFile(EXTRA, EXTRA, extra)
    for (const [name, member] of Object.entries(extra)) {
      if (isBookkeeping(name)) continue
      const path = this.pathOfFile(`${EXTRA}.${name}`, name, member)
      if (path !== null) return path
    }
    return null
  }

  private pathOfFile(path: string, name: string, value: unknown): string | null {
    return hasFile(name, value, this.budget) ? path : null
  }

  private once(place: string, find: () => string | null): string | null {
    const known = this.results.get(place)
    const result = known === undefined ? find() : known
    this.results.set(place, result)
    return result
  }
}

const SEARCHES = new WeakMap<Buffer, FileSearch>()
