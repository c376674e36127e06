import { type RelayError, relayError } from '../canonical/relay-error.ts'
import {
  forgetShortenedBody,
  shortenedBodyOf,
} from '../dialects/detect-and-shorten-one-hour-caching.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { BodyMemory, BodyMemoryShare } from '../limits/body-memory.ts'
import {
  cachedBodiesWithoutThinking,
  forgetBodiesWithoutThinking,
} from './cache-requests-without-foreign-thinking.ts'
import { cachedConversionBodies, forgetConversions } from './convert-request.ts'
import { memoryShareError } from './read-body.ts'
import { copiesShareOf } from './user-share-of-body-memory.ts'

const NO_MEMORY = relayError('overloaded', { retryAfter: 2 })

/**
 * Reports whether an error of `CopiesOfBody` means that too little memory is left. No other channel
 * can then serve the call.
 */
export const isMemoryError = ({ code }: RelayError): boolean =>
  code === 'overloaded' || code === 'too_many_concurrent'

/**
 * Counts the memory of the copies of a request's body that are made for providers. These copies are
 * conversions to other formats, bodies without the thinking of other providers or with shorter
 * cache lifetimes, and the bodies that are sent. Conversions are kept as long as the call, because
 * several channels may need the same one. Without this count, a call with a large body could use
 * several times the memory that is counted for its body. The copies are part of the user's share,
 * because the calls of one user could otherwise use all memory.
 */
export class CopiesOfBody {
  private readonly memory: BodyMemory
  private readonly owner: BodyMemoryShare
  /** The bytes of the kept copies, by request. A call has one request for each of its models. */
  private kept: Map<ChatRequest, number> | null = null
  private counted = 0
  /** The bytes of stored content that was inserted into the body, and of the resulting body. */
  private inserted = 0
  private isReleased = false

  constructor(memory: BodyMemory, owner: BodyMemoryShare) {
    this.memory = memory
    this.owner = copiesShareOf(owner)
  }

  /**
   * Counts the copies that were made of a request, and the body that is sent now. The body that was
   * sent before is no longer counted. If too little memory is left, returns an error and drops the
   * copies of this request.
   */
  count(request: ChatRequest, sent: Buffer = request.body): RelayError | null {
    const kept = keptCopiesOf(request)
    const isCopy = !isPartOf(sent, request.body) && !kept.has(sent)
    if (kept.size > 0) this.kept = (this.kept ?? new Map()).set(request, sumOfLengths(kept))
    else this.kept?.delete(request)
    const copied = sumOf(this.kept?.values() ?? NO_COUNTS) + (isCopy ? sent.length : 0)
    const error = this.resize(this.inserted + copied)
    if (error === null) return null
    forgetShortenedBody(request.body)
    forgetConversions(request)
    forgetBodiesWithoutThinking(request)
    this.kept?.delete(request)
    return error
  }

  /**
   * Counts stored content that is inserted into the body, and the resulting body, until the call
   * ends. Returns an error if too little memory is left.
   */
  keep(bytes: number): RelayError | null {
    const error = this.resize(this.counted + bytes)
    if (error === null) this.inserted += bytes
    return error
  }

  /** Gives all memory back. Copies that are made later are not counted. */
  release(): void {
    this.memory.giveBackOf(this.owner, this.counted)
    this.counted = 0
    this.isReleased = true
  }

  private resize(bytes: number): RelayError | null {
    if (this.isReleased) return null
    const { memory, owner } = this
    const more = bytes - this.counted
    const error = more > 0 ? takeCopies(memory, owner, more) : null
    if (error !== null) return error
    if (more < 0) memory.giveBackOf(owner, -more)
    this.counted = bytes
    return null
  }
}

function takeCopies(memory: BodyMemory, owner: BodyMemoryShare, bytes: number): RelayError | null {
  const full = memory.takeOf(owner, bytes)
  if (full === null) return null
  return full === 'user' ? memoryShareError(owner) : NO_MEMORY
}

/**
 * Runs `work`, which makes copies of a request's body. The copies have `bytes` bytes in total and
 * are counted like those of `CopiesOfBody`. Returns null, or an error if too little memory is left.
 * `work` is not run after an error.
 */
export async function withCopiesOfBody(
  memory: BodyMemory,
  owner: BodyMemoryShare,
  bytes: number,
  work: () => Promise<void>,
): Promise<RelayError | null> {
  const ofCopies = copiesShareOf(owner)
  const error = takeCopies(memory, ofCopies, bytes)
  if (error !== null) return error
  try {
    await work()
    return null
  } finally {
    memory.giveBackOf(ofCopies, bytes)
  }
}

const NO_COUNTS: readonly number[] = []
const NO_COPIES: ReadonlySet<Buffer> = new Set()

/** Returns the copies of a request's body that are kept with the call. Most calls have none. */
function keptCopiesOf(request: ChatRequest): ReadonlySet<Buffer> {
  const { body } = request
  const conversions = cachedConversionBodies(request)
  const withoutThinking = cachedBodiesWithoutThinking(request)
  if (conversions.length === 0 && withoutThinking.length === 0) {
    const shortened = shortenedBodyOf(body)
    return shortened === undefined ? NO_COPIES : new Set([shortened])
  }
  const changed = [...conversions, ...withoutThinking]
  const shortened = [body, ...changed].flatMap((one) => shortenedBodyOf(one) ?? [])
  return new Set([...changed, ...shortened].filter((one) => !isPartOf(one, body)))
}

/**
 * Reports whether `body` is a view of `whole` and therefore uses no additional memory. Small
 * buffers may share Node's buffer pool without being views of each other. The function then returns
 * true, so a small copy may not be counted, which is negligible.
 */
const isPartOf = (body: Buffer, whole: Buffer): boolean => body.buffer === whole.buffer

function sumOfLengths(bodies: Iterable<Buffer>): number {
  let sum = 0
  for (const { length } of bodies) sum += length
  return sum
}

const sumOf = (counts: Iterable<number>): number => {
  let sum = 0
  for (const count of counts) sum += count
  return sum
}
