import { appendFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { request } from 'undici'
import type { Outbound } from '../outbound/outbound-connections.ts'
import { NEVER } from '../reject-on-abort.ts'
import { warnThrottled } from '../telemetry/log.ts'
import { ANSWER_MS_MAX, askWitnesses, type WitnessDeps } from './ask-witnesses.ts'
import {
  checkpointsAfter,
  type LogCheckpoint,
  listCheckpoints,
} from './read-checkpoints-and-tiles.ts'

/**
 * The maximum number of checkpoints that one call publishes. The next call continues after these
 * checkpoints.
 */
const PUBLISHED_AT_ONCE = 1_000

/** A new destination first receives this number of the latest checkpoints. */
const PUBLISHED_FIRST = 100

/**
 * The maximum time in milliseconds that one call spends on sending checkpoints to the webhook.
 * After this time, the call ends. The next call asks the witnesses again and then continues.
 */
const WEBHOOK_MS_MAX = 20_000

/**
 * The result of one attempt to publish:
 * - `complete`: every destination has all checkpoints, and enough witnesses have signed the latest
 *   one.
 * - `continuing`: a destination has received some checkpoints and must receive more.
 * - `waiting`: not enough witnesses have signed, or a destination does not accept a checkpoint.
 *   Publishing must be tried again later.
 */
export type PublicationState = 'complete' | 'continuing' | 'waiting'

type PublishDeps = WitnessDeps & {
  /** When this signal aborts, running requests end and no more requests are sent. */
  readonly signal?: AbortSignal
}

/**
 * Asks the witnesses to sign the latest checkpoint, and sends the next unpublished checkpoints to
 * the configured webhook and file. Calls must not overlap, so that the checkpoints keep their
 * order. If the process dies during a call, a checkpoint may be published twice, but none is left
 * out.
 */
export async function publishCheckpoints(deps: PublishDeps): Promise<PublicationState> {
  const { config, outbound, pg, signal = NEVER } = deps
  const { webhook, file } = config.transparencyLog
  const [latest] = await listCheckpoints(pg, 1)
  if (latest === undefined) return 'complete'
  const isFinal = await askWitnesses(deps, latest)
  const states = await Promise.all([
    webhook === null
      ? 'complete'
      : publishTo('webhook', deps, async (checkpoints, onPublished) => {
          const until = performance.now() + WEBHOOK_MS_MAX
          for (const checkpoint of checkpoints) {
            if (signal.aborted || performance.now() > until) return false
            await sendToWebhook(outbound, webhook, checkpoint.note, signal)
            await onPublished(checkpoint)
          }
          return true
        }),
    file === null
      ? 'complete'
      : publishTo('file', deps, async (checkpoints, onPublished) => {
          await appendFile(file, checkpoints.map(({ note }) => `${note}\n`).join(''))
          for (const checkpoint of checkpoints.slice(-1)) await onPublished(checkpoint)
          return true
        }),
  ])
  if (states.includes('continuing')) return 'continuing'
  return isFinal && states.every((state) => state === 'complete') ? 'complete' : 'waiting'
}

/**
 * Publishes checkpoints. Calls `onPublished` after each one, or only after the last one if all are
 * published together. Resolves to true if all of them were published.
 */
type Publish = (
  checkpoints: readonly LogCheckpoint[],
  onPublished: (checkpoint: LogCheckpoint) => Promise<void>,
) => Promise<boolean>

/** Publishes the next checkpoints to one destination. */
async function publishTo(
  destination: 'file' | 'webhook',
  { pg, log, signal }: PublishDeps,
  publish: Publish,
): Promise<PublicationState> {
  try {
    const checkpoints = await unpublishedCheckpoints(pg, destination)
    const areAll = await publish(checkpoints, ({ size }) => recordPublished(pg, destination, size))
    return areAll && checkpoints.length < PUBLISHED_AT_ONCE ? 'complete' : 'continuing'
  } catch (err) {
    if (signal?.aborted !== true) {
      warnThrottled(log, { err }, 'a checkpoint of the transparency log was not published')
    }
    return 'waiting'
  }
}

/**
 * Returns the next checkpoints that the destination has not received, in order. For a new
 * destination, or if the log was emptied and started again, the result starts with the latest
 * checkpoints.
 */
async function unpublishedCheckpoints(
  pg: Pool,
  destination: string,
): Promise<readonly LogCheckpoint[]> {
  const { rows } = await pg.query<{ size: string }>(
    'select size from transparency_log.publications where destination = $1',
    [destination],
  )
  const published = rows[0] === undefined ? null : Number(rows[0].size)
  const [latest] = await listCheckpoints(pg, 1)
  if (published !== null && published <= (latest?.size ?? 0)) {
    return await checkpointsAfter(pg, published, PUBLISHED_AT_ONCE)
  }
  return (await listCheckpoints(pg, PUBLISHED_FIRST)).toReversed()
}

async function recordPublished(pg: Pool, destination: string, size: number): Promise<void> {
  await pg.query(
    `insert into transparency_log.publications (destination, size) values ($1, $2)
      on conflict (destination) do update set size = excluded.size`,
    [destination, size],
  )
}

async function sendToWebhook(
  outbound: Outbound,
  url: string,
  note: string,
  signal: AbortSignal,
): Promise<void> {
  const { statusCode, body } = await request(url, {
    ...{ dispatcher: outbound.dispatcher, method: 'POST', body: note },
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
  })
  await body.dump()
  if (statusCode >= 300) throw new Error(`the webhook answered ${statusCode}`)
}

/** The longest pause in milliseconds between two publications. */
const PUBLISH_AGAIN_MS_MAX = 60_000

/**
 * Publishes signed checkpoints independently of sealing, so that a slow destination does not delay
 * sealing. One publication runs at a time. A publication runs at the start, after each `request`,
 * and otherwise after a pause. The pauses grow up to `PUBLISH_AGAIN_MS_MAX` while a destination or
 * a witness does not answer. The repetition is needed, because an idle site seals no new checkpoint
 * that would cause another publication.
 */
export class Publisher {
  private isRequested = false
  private wake: () => void = () => {}
  private readonly everyMs: number
  private readonly log: Logger

  constructor(everyMs: number, log: Logger) {
    this.everyMs = everyMs
    this.log = log
  }

  /** Makes the next publication begin at once. Called when there is a new checkpoint. */
  request(): void {
    this.isRequested = true
    this.wake()
  }

  /** Publishes until `lost` is aborted. `publish` must end soon after the abort. */
  async run(publish: () => Promise<PublicationState>, lost: AbortSignal): Promise<void> {
    let pauseMs = this.everyMs
    while (!lost.aborted) {
      this.isRequested = false
      const state = await publish().catch((err: unknown) => {
        warnThrottled(this.log, { err }, 'checkpoints of the transparency log were not published')
        return 'waiting' as const
      })
      if (state !== 'continuing') {
        await this.pause(state === 'complete' ? PUBLISH_AGAIN_MS_MAX : pauseMs, lost)
      }
      const isFresh = this.isRequested || state !== 'waiting'
      pauseMs = isFresh ? this.everyMs : Math.min(pauseMs * 2, PUBLISH_AGAIN_MS_MAX)
    }
  }

  private async pause(ms: number, lost: AbortSignal): Promise<void> {
    if (this.isRequested || lost.aborted) return
    const waiting = new AbortController()
    const end = () => waiting.abort()
    this.wake = end
    lost.addEventListener('abort', end)
    await delay(ms, undefined, { signal: waiting.signal, ref: false }).catch(() => {})
    lost.removeEventListener('abort', end)
    this.wake = () => {}
  }
}
