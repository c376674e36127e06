import { hasFile, searchBudget } from '../canonical/files-in-unread-members.ts'
import { isObject } from '../canonical/json-values.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { conversionLimitError, lengthLimitError } from '../conversion/conversion-limits.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import { isImageModel } from '../providers/profiles/image-endpoints.ts'
import type { RequestForModel } from './adapt-image-request.ts'

type Omitting = RequestForModel & {
  readonly dropped: readonly string[]
  readonly losses: readonly string[]
}

/** Members from which no vendor reads the picture for an image, whatever addresses they contain. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  ...['metadata', 'user', 'labels', 'tags', 'extra_headers', 'extra_query', 'trace'],
  ...['safety_identifier', 'prompt_cache_key', 'litellm_metadata'],
])
/** Matches the losses of a media type, such as a video in Gemini's format. */
const LOST_MEDIA = /^(.+) \((?:audio|video)\/[^)]*\)$/s
/** Matches the losses within a member that may be a file as a whole. */
const LOST_VALUE = /^(?:extra_body\.|(?:messages|input|contents)\[\d+\]\.(?:content|parts)\[\d+\]$)/
/** The maximum length of a loss that is searched. The caller determines how long a loss is. */
const LOSS_LENGTH_MAX = 256

/**
 * Returns the error if a candidate lacks a member of the caller's request that contains a picture,
 * a video or a sound, or null. Without this file, the provider would generate another image, which
 * the caller would have to pay. Chats with models that generate images are checked as well.
 */
export function unreadFileError(
  { dropped, losses, request: { model }, upstreamModel }: Omitting,
  request: ChatRequest,
): RelayError | null {
  if (request.imageFactor === undefined && !isImageModel(upstreamModel ?? model)) return null
  const search = SEARCHES.get(request.body) ?? new FileSearch()
  SEARCHES.set(request.body, search)
  const omitted = new Set([...dropped, ...losses])
  const file = request.members.find(
    ({ key, kind, valueStart, valueEnd }) =>
      kind !== 'null' &&
      omitted.has(key) &&
      !BOOKKEEPING.has(key) &&
      search.isFile(key, request.body.subarray(valueStart, valueEnd)),
  )
  const param = file?.key ?? lostFile(losses, request, search)
  return param === undefined ? null : relayError('not_convertible', { param })
}

/** Returns the path of the first loss within a member that is a file. */
function lostFile(
  losses: readonly string[],
  { members, body }: ChatRequest,
  search: FileSearch,
): string | undefined {
  // Each member is parsed once. Its value is not kept for later calls, because it is large.
  const roots = new Map<string, unknown>()
  const rootOf = (key: string): unknown => {
    if (!roots.has(key)) {
      const member = members.find((one) => one.key === key)
      const json = member && body.subarray(member.valueStart, member.valueEnd)
      const isRead = json !== undefined && conversionLimitError(json) === null
      roots.set(key, isRead ? JSON.parse(json.toString('utf8')) : undefined)
    }
    return roots.get(key)
  }
  for (const loss of losses) {
    if (loss.length > LOSS_LENGTH_MAX) continue
    const media = LOST_MEDIA.exec(loss)?.[1]
    if (media !== undefined) return media
    if (!LOST_VALUE.test(loss)) continue
    const [key = ''] = loss.split(/[.[]/, 1)
    if (search.isFileWithin(loss, () => valueAt(rootOf(key), loss.slice(key.length)))) return loss
  }
  return undefined
}

/**
 * Searches one request for files. The results are kept, because the request is searched for each
 * channel and for each attempt.
 */
class FileSearch {
  private readonly budget = searchBudget()
  private readonly results = new Map<string, boolean>()
  private bytes = 0

  /** A member counts as a file if it is too long or too wide to be searched. */
  isFile(key: string, json: Buffer): boolean {
    return this.once(`member ${key}`, () => {
      this.bytes += json.length
      const isTooLarge = (lengthLimitError(this.bytes) ?? conversionLimitError(json)) !== null
      return isTooLarge || hasFile(key, JSON.parse(json.toString('utf8')), this.budget)
    })
  }

  isFileWithin(path: string, read: () => unknown): boolean {
    const name = path.slice(path.lastIndexOf('.') + 1)
    return this.once(`loss ${path}`, () => hasFile(name, read(), this.budget))
  }

  private once(place: string, find: () => boolean): boolean {
    const result = this.results.get(place) ?? find()
    this.results.set(place, result)
    return result
  }
}

const SEARCHES = new WeakMap<Buffer, FileSearch>()

/**
 * Returns the value at `path`, such as `[0].content[1]`, within `root`. A name may contain dots.
 * An answer of a model within the conversation has no value, because its pictures are no input.
 */
function valueAt(root: unknown, path: string): unknown {
  let value = root
  let rest = path.replace(/^\./, '')
  while (rest !== '') {
    if (!Array.isArray(value) && !isObject(value)) return undefined
    if (isObject(value) && (value.role === 'assistant' || value.role === 'model')) return undefined
    const [matched = rest, key = rest] = /^\[?([^.[\]]+)\]?\.?/.exec(rest) ?? []
    const name = Object.hasOwn(value, rest) ? rest : key
    value = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
    rest = name === rest ? '' : rest.slice(matched.length)
  }
  return value
}
