import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { request } from 'undici'
import { checkUrl, userPolicy } from '#infra/outbound/guard.ts'
import { deny } from '#relay/canonical/denial.ts'
import { type Exchange, headersOf } from '#relay/pipeline/exchange.ts'
import { sendTaskDenial } from './task-answers.ts'
import type { TaskParts } from './task-parts.ts'

const TYPES = /^(?:image\/(?:png|jpeg|webp|gif|avif)|video\/mp4)(?:;|$)/i
const BYTES_MAX = 64 * 1024 * 1024
const WHOLE_MS = 60_000
const AT_ONCE_MAX = 64

let atOnce = 0

/**
 * `GET /mj/image/{id}`: a drawing, from where its provider keeps it. Its id is known to its owner
 * and the admins alone. The address is the provider's word: it leads to public places only, or to
 * the provider itself.
 */
export async function showImage(parts: TaskParts, exchange: Exchange, task: string): Promise<void> {
  const url = await imageOf(parts, task)
  if (url === null) return sendTaskDenial(exchange, 'drawing', deny('image_unavailable'))
  if (atOnce >= AT_ONCE_MAX) {
    return sendTaskDenial(exchange, 'drawing', deny('overloaded', { retryAfterSeconds: 2 }))
  }
  atOnce += 1
  try {
    await carry(exchange, url)
  } finally {
    atOnce -= 1
  }
}

type Source = { readonly url: string; readonly dispatcher: TaskParts['side']['dispatcher'] }

async function imageOf(parts: TaskParts, task: string): Promise<Source | null> {
  const known = await parts.books.find(task)
  const { end } = known ?? {}
  if (!known || !end || !('imageUrl' in end) || end.imageUrl === null) return null
  const url = await parts.vault.open(known.submitted.userId, end.imageUrl)
  if (url === null || !URL.canParse(url)) return null
  const channel = parts.views.channels.find(end.channelId)
  if (channel?.target?.origin === new URL(url).origin) {
    return { url, dispatcher: parts.side.dispatcher }
  }
  const checked = checkUrl(url, userPolicy)
  return checked.isAllowed ? { url, dispatcher: parts.elsewhere.dispatcher } : null
}

/** A provider's picture and nothing else of its answer. */
async function carry(exchange: Exchange, { url, dispatcher }: Source): Promise<void> {
  const { response, call } = exchange
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(WHOLE_MS)])
  const headers = { 'accept-encoding': 'identity', 'user-agent': 'tallygate' }
  const answer = await request(url, { dispatcher, signal, headers }).catch(() => null)
  const type = String(answer?.headers['content-type'] ?? '')
  if (answer === null || answer.statusCode !== 200 || !TYPES.test(type)) {
    answer?.body.destroy()
    return sendTaskDenial(exchange, 'drawing', deny('image_unavailable'))
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
  await pipeline(answer.body, atMost(BYTES_MAX), response).catch(() => response.destroy())
}

function atMost(most: number): Transform {
  let left = most
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      left -= chunk.length
      if (left < 0) done(new Error('too large'))
      else done(null, chunk)
    },
  })
}
