import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { request } from 'undici'
import type { KnownTask } from '#domain/task/decide.ts'
import { addressLine } from '#infra/http/address-key.ts'
import { checkUrl, userPolicy } from '#infra/outbound/guard.ts'
import { type Exchange, headersOf } from '#relay/pipeline/exchange.ts'
import { relayError } from '../canonical/relay-error.ts'
import { isTaskId } from './fetch-tasks.ts'
import type { PermitName, SeatsMax } from './permits.ts'
import { sendTaskError } from './task-answers.ts'
import type { TaskDeps } from './task-deps.ts'

const TYPES = /^(?:image\/(?:png|jpeg|webp|gif|avif)|video\/mp4)(?:;|$)/i
const BYTES_MAX = 64 * 1024 * 1024
const WHOLE_MS = 60_000
/** Nothing moves any more: its reader takes nothing, or its provider gives nothing. */
const STALL_MS = 10_000

/** A page shows many pictures at once, so whoever is next waits a little. */
export const PICTURE_PERMITS: SeatsMax = {
  total: 128,
  waiting: 1_024,
  waitingOfName: 128,
  waitMs: 20_000,
}

/** An owner may be a reseller with many readers, each at an address of their own. */
const OF_OWNER = 32
const OF_ADDRESS = 6
const OF_BOTH = 3

/**
 * `GET /mj/image/{id}`: a drawing, from where its provider keeps it. Its id is known to its owner
 * and the admins alone. The address is the provider's word: it leads to public places only, or to
 * the provider itself.
 */
export async function showImage(deps: TaskDeps, exchange: Exchange, task: string): Promise<void> {
  const { clientIp } = exchange
  const waitSeconds = deps.guesses.waitSeconds(clientIp)
  if (waitSeconds > 0) return tooMany(exchange, waitSeconds)
  const known = isTaskId(task) ? await deps.ledger.glance(task) : null
  if (known === null) {
    const tooManySeconds = await deps.guesses.failed(clientIp)
    return tooManySeconds > 0 ? tooMany(exchange, tooManySeconds) : nothingHere(exchange)
  }
  const source = await imageOf(deps, known)
  if (source === null) return nothingHere(exchange)
  const gone = new AbortController()
  exchange.response.once('close', () => gone.abort())
  const leave = await deps.picturePermits.enter(permitNames(exchange, known), gone.signal)
  if (leave === null) {
    return sendTaskError(exchange, 'drawing', relayError('overloaded', { retryAfter: 2 }))
  }
  try {
    await carry(exchange, source, gone)
  } finally {
    leave()
  }
}

export function permitNames(
  { clientIp }: Pick<Exchange, 'clientIp'>,
  { submitted: { userId } }: Pick<KnownTask, 'submitted'>,
): readonly PermitName[] {
  const [address, owner] = [`address ${addressLine(clientIp)}`, `owner ${userId}`]
  return [
    { name: owner, max: OF_OWNER },
    { name: address, max: OF_ADDRESS },
    { name: `${owner} ${address}`, max: OF_BOTH },
  ]
}

const nothingHere = (exchange: Exchange): void =>
  sendTaskError(exchange, 'drawing', relayError('image_unavailable'))

function tooMany(exchange: Exchange, retryAfter: number): void {
  const subject = '60 unknown pictures / 60 s'
  sendTaskError(exchange, 'drawing', relayError('rate_limited', { subject, retryAfter }))
}

type Source = { readonly url: string; readonly dispatcher: TaskDeps['side']['dispatcher'] }

async function imageOf(deps: TaskDeps, { submitted, end }: KnownTask): Promise<Source | null> {
  if (end === null || !('imageUrl' in end) || end.imageUrl === null) return null
  const url = await deps.vault.open(submitted.userId, end.imageUrl)
  if (url === null || !URL.canParse(url)) return null
  const channel = deps.views.channels.find(end.channelId)
  if (channel?.target?.origin === new URL(url).origin) {
    return { url, dispatcher: deps.pictures.via(channel.target.proxy).dispatcher }
  }
  const checked = checkUrl(url, userPolicy)
  return checked.isAllowed ? { url, dispatcher: deps.elsewhere.dispatcher } : null
}

/** A provider's picture and nothing else of its answer. */
async function carry(
  exchange: Exchange,
  { url, dispatcher }: Source,
  gone: AbortController,
): Promise<void> {
  const { response, call } = exchange
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(WHOLE_MS)])
  const headers = { 'accept-encoding': 'identity', 'user-agent': 'tallygate' }
  const answer = await request(url, { dispatcher, signal, headers }).catch(() => null)
  const type = String(answer?.headers['content-type'] ?? '')
  if (answer === null || answer.statusCode !== 200 || !TYPES.test(type)) {
    answer?.body.destroy()
    return nothingHere(exchange)
  }
  response.writeHead(200, [
    ...headersOf(call),
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
  const forwarder = passing(() => stalled.refresh())
  await pipeline(answer.body, forwarder, response, { signal }).catch(() => response.destroy())
  clearTimeout(stalled)
}

/** So many bytes at most. */
function passing(onPart: () => void): Transform {
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
