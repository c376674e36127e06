import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { request } from 'undici'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import { addressLine } from '#infra/http/client-address-hash.ts'
import { checkUrl, userPolicy } from '#infra/outbound/outbound-policy.ts'
import { type Exchange, headersOf } from '#relay/pipeline/http-exchange.ts'
import { relayError } from '../canonical/relay-error.ts'
import type { PermitLimits, PermitName } from './limit-concurrent-work.ts'
import { isTaskId } from './look-up-tasks.ts'
import { sendTaskError } from './send-task-errors-and-acceptance.ts'
import type { TaskDeps } from './task-deps.ts'

const TYPES = /^(?:image\/(?:png|jpeg|webp|gif|avif)|video\/mp4)(?:;|$)/i
const BYTES_MAX = 64 * 1024 * 1024
const TOTAL_MS = 60_000
/** A transfer is ended if no byte arrives for this time. */
const STALL_MS = 10_000

/**
 * The limits of concurrent requests for pictures. A request above a limit waits for at most
 * `waitMs` and is not refused at once, because a page may show many pictures.
 */
export const PICTURE_PERMITS: PermitLimits = {
  total: 128,
  waiting: 1_024,
  waitingPerName: 128,
  waitMs: 20_000,
}

/**
 * The maximum number of concurrent requests for pictures of one user. It is high, because a user
 * may be a reseller whose pictures many people view.
 */
const PER_OWNER = 32
const PER_ADDRESS = 6
const PER_OWNER_AND_ADDRESS = 3

/**
 * Serves `GET /mj/image/{id}`: fetches the picture of a drawing task from its provider and forwards
 * it. No key is needed, because only the owner of the task and admins know the id. The provider
 * chooses the URL of the picture. To protect the internal network, only public addresses and the
 * provider's own address are fetched.
 */
export async function serveTaskImage(
  deps: TaskDeps,
  exchange: Exchange,
  task: string,
): Promise<void> {
  const { clientIp } = exchange
  const waitSeconds = deps.guesses.waitSeconds(clientIp)
  if (waitSeconds > 0) return tooMany(exchange, waitSeconds)
  const record = isTaskId(task) ? await deps.ledger.peek(task) : null
  if (record === null) {
    const tooManySeconds = await deps.guesses.failed(clientIp)
    return tooManySeconds > 0 ? tooMany(exchange, tooManySeconds) : nothingHere(exchange)
  }
  const source = await imageOf(deps, record)
  if (source === null) return nothingHere(exchange)
  const gone = new AbortController()
  exchange.response.once('close', () => gone.abort())
  const release = await deps.picturePermits.enter(permitNames(exchange, record), gone.signal)
  if (release === null) {
    return sendTaskError(exchange, 'drawing', relayError('overloaded', { retryAfter: 2 }))
  }
  try {
    await forwardPicture(exchange, source, gone)
  } finally {
    release()
  }
}

export function permitNames(
  { clientIp }: Pick<Exchange, 'clientIp'>,
  { submitted: { userId } }: Pick<TaskRecord, 'submitted'>,
): readonly PermitName[] {
  const [address, owner] = [`address ${addressLine(clientIp)}`, `owner ${userId}`]
  return [
    { name: owner, max: PER_OWNER },
    { name: address, max: PER_ADDRESS },
    { name: `${owner} ${address}`, max: PER_OWNER_AND_ADDRESS },
  ]
}

const nothingHere = (exchange: Exchange): void =>
  sendTaskError(exchange, 'drawing', relayError('image_unavailable'))

function tooMany(exchange: Exchange, retryAfter: number): void {
  const subject = '60 unknown pictures / 60 s'
  sendTaskError(exchange, 'drawing', relayError('rate_limited', { subject, retryAfter }))
}

type Source = {
  readonly url: string
  readonly dispatcher: TaskDeps['providerOutbound']['dispatcher']
}

async function imageOf(deps: TaskDeps, { submitted, end }: TaskRecord): Promise<Source | null> {
  if (end === null || !('imageUrl' in end) || end.imageUrl === null) return null
  const url = await deps.vault.open(submitted.userId, end.imageUrl)
  if (url === null || !URL.canParse(url)) return null
  const channel = deps.views.channels.find(end.channelId)
  if (channel?.target?.origin === new URL(url).origin) {
    return { url, dispatcher: deps.pictureOutbound.via(channel.target.proxy).dispatcher }
  }
  const checked = checkUrl(url, userPolicy)
  return checked.isAllowed ? { url, dispatcher: deps.publicOutbound.dispatcher } : null
}

/**
 * Fetches a picture and sends it to the caller. Of the headers in the provider's response, only the
 * content type is sent.
 */
async function forwardPicture(
  exchange: Exchange,
  { url, dispatcher }: Source,
  gone: AbortController,
): Promise<void> {
  const { response } = exchange
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(TOTAL_MS)])
  const headers = { 'accept-encoding': 'identity', 'user-agent': 'tallygate' }
  const answer = await request(url, { dispatcher, signal, headers }).catch(() => null)
  const type = String(answer?.headers['content-type'] ?? '')
  if (answer === null || answer.statusCode !== 200 || !TYPES.test(type)) {
    answer?.body.destroy()
    return nothingHere(exchange)
  }
  response.writeHead(200, [
    ...headersOf(exchange),
    'Content-Type',
    type,
    'Cache-Control',
    'private, max-age=86400',
    'X-Content-Type-Options',
    'nosniff',
    'Content-Security-Policy',
    "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy',
    'cross-origin',
  ])
  const stalled = setTimeout(() => gone.abort(), STALL_MS)
  const forwarder = limitedForwarder(() => stalled.refresh())
  await pipeline(answer.body, forwarder, response, { signal }).catch(() => response.destroy())
  clearTimeout(stalled)
}

/**
 * Returns a stream that forwards at most `BYTES_MAX` bytes, fails if there are more, and calls
 * `onPart` for every chunk.
 */
function limitedForwarder(onPart: () => void): Transform {
  let left = BYTES_MAX
  return new Transform({
    transform: (part: Buffer, _encoding, done) => {
      onPart()
      left -= part.length
      if (left < 0) done(new Error('too large'))
      else done(null, part)
    },
  })
}
