import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import type { LongResponses } from '#infra/shutdown-drain.ts'

const RETRY_SECONDS = 5

export type PermitLimits = {
  /** The maximum number of exports that run at the same time in this process. */
  readonly all: number
  /** The maximum number of exports of one user that run at the same time. */
  readonly each: number
  /** The number of the `all` permits that only admins can acquire. The default is 0. */
  readonly reservedForAdmins?: number
}

/**
 * Returns a function that acquires a permit for an export of a user. The returned function throws a
 * 429 if no permit is free. If a permit is free, the returned function returns another function,
 * which releases the permit. `inFlight` counts the permits in use. A stopping process waits until
 * this count is 0, within its grace period.
 */
export function createPermits(
  { all, each, reservedForAdmins = 0 }: PermitLimits,
  inFlight: LongResponses,
) {
  const held = new Map<number, number>()
  let total = 0
  const count = (userId: number, by: 1 | -1): void => {
    total += by
    inFlight.inFlight += by
    const ofUser = (held.get(userId) ?? 0) + by
    if (ofUser === 0) held.delete(userId)
    else held.set(userId, ofUser)
  }
  return (userId: number, isAdmin = false): (() => void) => {
    const limit = isAdmin ? all : all - reservedForAdmins
    const isFull = total >= limit || (held.get(userId) ?? 0) >= each
    if (isFull) throw httpError('TooManyExports', {}, RETRY_SECONDS)
    count(userId, 1)
    let isReleased = false
    return () => {
      if (!isReleased) count(userId, -1)
      isReleased = true
    }
  }
}

export type ExportFile = {
  readonly name: string
  readonly type: string
  /**
   * Releases the permit of the export. Called when the response has ended, whether the response is
   * complete or not.
   */
  readonly release: () => void
  readonly limits: ReadLimits
}

/** Sends the chunks of an export as a file. Each chunk is sent as soon as it is read. */
export function sendExport(
  reply: FastifyReply,
  chunks: AsyncIterable<string | Buffer>,
  { name, type, release, limits }: ExportFile,
): FastifyReply {
  const limited = limitReading(chunks, limits, (reason) => file.destroy(reason))
  const file: Readable = Readable.from(limited, { objectMode: false })
  file.once('close', release)
  reply.header('content-disposition', `attachment; filename="${name}"`)
  return reply.type(type).send(file)
}

export type ReadLimits = { readonly stallMs: number; readonly totalMs: number }

/**
 * Yields the chunks of an export. Calls `cut` if the client reads nothing for `stallMs`, or if the
 * export takes longer than `totalMs`. A client that stops reading therefore does not keep a permit.
 */
export async function* limitReading<Chunk>(
  chunks: AsyncIterable<Chunk>,
  { stallMs, totalMs }: ReadLimits,
  cut: (reason: Error) => void,
): AsyncGenerator<Chunk> {
  const onStall = () => cut(new Error('the client stopped reading an export'))
  const onLong = () => cut(new Error('reading an export took too long'))
  const stallTimer = setTimeout(onStall, stallMs)
  const totalTimer = setTimeout(onLong, totalMs)
  try {
    for await (const chunk of chunks) {
      stallTimer.refresh()
      yield chunk
    }
  } finally {
    clearTimeout(stallTimer)
    clearTimeout(totalTimer)
  }
}
