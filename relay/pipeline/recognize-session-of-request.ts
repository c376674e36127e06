import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Vault } from '#infra/vault/port.ts'
import { endOfPlainText, type Words, wordsOf } from '../dialects/scan-json-tokens.ts'
import type { Member } from '../dialects/scan-request-object.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { Caller } from './authenticate.ts'

/** The conversation or agent run to which a call belongs. */
export type Session = {
  /**
   * A keyed hash of the session's id, the user, the token and the model. The id itself can be
   * personal, so it is neither stored nor logged.
   */
  readonly key: string
  /**
   * True if the client has sent an id of the session. False if the session is recognized by its
   * first message.
   */
  readonly isNamed: boolean
  /** True if the call begins a conversation that is recognized by its first message. */
  readonly isFirstTurn: boolean
}

/** The headers in which clients send the id of a session, in order of preference. */
const SESSION_HEADERS = [
  'x-session-affinity',
  'x-claude-code-session-id',
  'session_id',
  'session-id',
  'x-session-id',
  'x-opencode-session',
  'thread-id',
  'x-qwen-code-session-id',
  'x-amp-thread-id',
] as const

const ID_LENGTH_MAX = 512
const METADATA_BYTES_MAX = 4_096

/**
 * Returns the session of a call, or null if none can be recognized. Only a bounded part of the body
 * is read. An id that is too long is ignored.
 */
export function sessionOf(
  { keyedHash }: Pick<Vault, 'keyedHash'>,
  { user: { userId }, token: { tokenId } }: Pick<Caller, 'user' | 'token'>,
  headers: IncomingHttpHeaders,
  request: ChatRequest,
): Session | null {
  // The id comes last, because only the id can contain line breaks.
  const keyOf = (id: string): string =>
    keyedHash('call-session', `${userId}\n${tokenId}\n${request.model}\n${id}`)
  const id = idInHeaders(headers) ?? idInBody(request)
  if (id !== null) return { key: keyOf(`id\n${id}`), isNamed: true, isFirstTurn: false }
  const first = firstMessageOf(request)
  if (first === null) return null
  const { digest, isContinued } = first
  return { key: keyOf(`message\n${digest}`), isNamed: false, isFirstTurn: !isContinued }
}

function idInHeaders(headers: IncomingHttpHeaders): string | null {
  for (const name of SESSION_HEADERS) {
    const value = headers[name]
    if (typeof value === 'string' && isId(value)) return value
  }
  return null
}

const isId = (text: string): boolean => text !== '' && text.length <= ID_LENGTH_MAX

/**
 * Returns the id of the session that the body contains: `prompt_cache_key`, or otherwise
 * `metadata.user_id`. Returns null if neither is usable.
 */
function idInBody({ body, members }: ChatRequest): string | null {
  let metadata: Member | null = null
  for (const member of members) {
    const { key, kind, valueStart, valueEnd } = member
    if (key === 'prompt_cache_key' && kind === 'string') {
      const isShort = valueEnd - valueStart - 2 <= ID_LENGTH_MAX
      const id = isShort ? body.toString('utf8', valueStart + 1, valueEnd - 1) : ''
      if (isId(id)) return id
    }
    if (key === 'metadata' && kind === 'object') metadata = member
  }
  return metadata === null ? null : userIn(body, metadata)
}

function userIn(body: Buffer, { valueStart, valueEnd }: Member): string | null {
  if (valueEnd - valueStart > METADATA_BYTES_MAX) return null
  const { user_id: id } = JSON.parse(body.toString('utf8', valueStart, valueEnd))
  return typeof id === 'string' && isId(id) ? id : null
}

/**
 * The minimum length of a request whose session is recognized by its first message. Providers cache
 * only prompts of about 1 024 tokens or more, so a shorter conversation gains nothing from staying
 * on one channel.
 */
const RECOGNIZED_FROM_BYTES = 4_096
/** The maximum number of bytes that are searched for the first message. */
const SEARCHED_BYTES_MAX = 65_536
/** The maximum number of bytes of the first message that identify a conversation. */
const IDENTIFYING_BYTES_MAX = 8_192

/** The names that the list of messages has in the wire formats. */
const MESSAGE_LISTS: ReadonlySet<string> = new Set(['messages', 'input', 'contents'])
/** Members of a message that contain its text, or the data or address of a file. */
const CONTENT_KEYS: ReadonlySet<string> = new Set(['text', 'content', 'data', 'url'])
const INSTRUCTING_ROLES: ReadonlySet<string> = new Set(['system', 'developer'])

type FirstMessage = {
  /** The hash of the message's texts. */
  readonly digest: string
  /** True if other messages follow, such as an answer of the model. */
  readonly isContinued: boolean
}

/**
 * Finds the first message whose role is neither `system` nor `developer`. This message stays the
 * same in all turns of a conversation, except for its cache marks, which are therefore ignored.
 * Returns null for a short request, or if no such message is found.
 */
function firstMessageOf({ body, members }: ChatRequest): FirstMessage | null {
  if (body.length < RECOGNIZED_FROM_BYTES) return null
  const list = members.find(({ key, kind }) => kind === 'array' && MESSAGE_LISTS.has(key))
  if (list === undefined) return null
  const end = Math.min(list.valueEnd, list.valueStart + SEARCHED_BYTES_MAX)
  const words = wordsOf(body)
  let at = list.valueStart + 1
  for (let index = 0; index < list.length; index += 1) {
    const message = readMessage(body, words, at, end)
    if (message === null) return null
    at = message.end
    if (!message.isInstruction) {
      if (message.length === 0) return null
      const digest = hash('sha256', sample.subarray(0, message.length), 'hex')
      return { digest, isContinued: list.length > index + 1 }
    }
  }
  return null
}

type Message = {
  readonly isInstruction: boolean
  /** The number of bytes at the start of `sample` that hold this message's texts. */
  readonly length: number
  /** The offset after the message, or after the part that was read. */
  readonly end: number
}

/**
 * A buffer with the texts of the message that was read last. Reading is synchronous, so all calls
 * can share the buffer.
 */
const sample = Buffer.alloc(IDENTIFYING_BYTES_MAX)

/**
 * The maximum number of steps for reading a message. A step reads a text or one byte outside of
 * texts.
 */
const STEPS_MAX = 4_096
/** The maximum length, in bytes, of the keys and roles that are recognized. */
const KEY_BYTES_MAX = 16

const QUOTE = 34
const BACKSLASH = 92
const COLON = 58
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/**
 * Reads one message from a body that is valid JSON. Reading begins at `start`, which may be the
 * place of a comma or space before the message. Reading stops at `end` or after `STEPS_MAX` steps.
 * Returns null if reading stops before the message's role is found.
 */
function readMessage(body: Buffer, words: Words, start: number, end: number): Message | null {
  let depth = 0
  let length = 0
  let key = ''
  let role: string | null = null
  let at = start
  for (let steps = 0; at < end && steps < STEPS_MAX; steps += 1) {
    const byte = body[at] as number
    at += 1
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1
    if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1
      if (depth === 0) return messageOf(role ?? '', length, at)
    }
    if (byte !== QUOTE) continue
    const isContent = CONTENT_KEYS.has(key)
    const isSearched = role === null || INSTRUCTING_ROLES.has(role)
    // Once the role shows that the message is not an instruction, a text is read only until
    // `sample` is full. The end of the text may be far away.
    const isPart = isContent && !isSearched
    const readTo = isPart ? Math.min(end, at + IDENTIFYING_BYTES_MAX) : end
    const close = endOfText(body, words, at, readTo)
    // A text is a key if a colon follows it. If a text is not read to its end, the next byte is a
    // part of the text and may be a colon by chance.
    if (close < readTo && isKey(body, close + 1, end)) {
      key = close - at > KEY_BYTES_MAX ? '' : body.toString('latin1', at, close)
    } else if (depth === 1 && key === 'role') {
      role = body.toString('latin1', at, Math.min(close, at + KEY_BYTES_MAX))
    } else if (isContent) {
      length += body.copy(sample, length, at, close)
      if (length === IDENTIFYING_BYTES_MAX && !isSearched) break
    }
    at = close + 1
  }
  return role === null ? null : messageOf(role, length, end)
}

const messageOf = (role: string, length: number, end: number): Message => ({
  isInstruction: INSTRUCTING_ROLES.has(role),
  length,
  end,
})

/**
 * Returns the offset of the quote that ends a text, or `end` if there is no such quote before
 * `end`.
 */
function endOfText(body: Buffer, words: Words, start: number, end: number): number {
  const count = Math.min(words.words.length, Math.ceil((end + words.shift) / 4))
  let at = start
  while (at < end) {
    at = endOfPlainText(words, at, count)
    if (body[at] === QUOTE) break
    at += body[at] === BACKSLASH ? 2 : 1
  }
  return Math.min(at, end)
}

function isKey(body: Buffer, start: number, end: number): boolean {
  let at = start
  while (at < end && (body[at] as number) <= 32) at += 1
  return body[at] === COLON
}
