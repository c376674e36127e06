import { appendFile } from 'node:fs/promises'
import type { Pool } from 'pg'
import { request } from 'undici'
import type { Outbound } from '../outbound/outbound-connections.ts'
import { warnThrottled } from '../telemetry/log.ts'
import { ANSWER_MS_MAX, askWitnesses, type WitnessDeps } from './ask-witnesses.ts'
import {
  checkpointsAfter,
  type LogCheckpoint,
  listCheckpoints,
} from './read-checkpoints-and-tiles.ts'

/**
 * The maximum number of checkpoints that one call publishes. The next call continues after them.
 */
const PUBLISHED_AT_ONCE = 1_000

/** The number of latest checkpoints that a new destination receives first. */
const PUBLISHED_FIRST = 100

/**
 * Asks the witnesses to sign the latest checkpoint. Then sends unpublished checkpoints to the
 * configured webhook and appends them to the configured file. Returns false if the caller must try
 * again, because a required witness has not signed or a checkpoint is not published. If the process
 * dies in between, a checkpoint may be published twice, but none is left out.
 */
export async function publishCheckpoints(deps: WitnessDeps): Promise<boolean> {
  const { config, outbound, pg } = deps
  const { webhook, file } = config.transparencyLog
  const [latest] = await listCheckpoints(pg, 1)
  if (latest === undefined) return true
  const isFinal = await askWitnesses(deps, latest)
  const outcomes = await Promise.all([
    webhook === null ||
      publishTo('webhook', deps, async (checkpoints, onPublished) => {
        for (const checkpoint of checkpoints) {
          await sendToWebhook(outbound, webhook, checkpoint.note)
          await onPublished(checkpoint)
        }
      }),
    file === null ||
      publishTo('file', deps, async (checkpoints, onPublished) => {
        await appendFile(file, checkpoints.map(({ note }) => `${note}\n`).join(''))
        for (const checkpoint of checkpoints.slice(-1)) await onPublished(checkpoint)
      }),
  ])
  return isFinal && outcomes.every((isComplete) => isComplete)
}

type Publish = (
  checkpoints: readonly LogCheckpoint[],
  onPublished: (checkpoint: LogCheckpoint) => Promise<void>,
) => Promise<void>

/** Publishes the next checkpoints to a destination. Returns whether it now has all of them. */
async function publishTo(
  destination: 'file' | 'webhook',
  { pg, log }: WitnessDeps,
  publish: Publish,
): Promise<boolean> {
  try {
    const checkpoints = await unpublishedCheckpoints(pg, destination)
    await publish(checkpoints, ({ size }) => recordPublished(pg, destination, size))
    return checkpoints.length < PUBLISHED_AT_ONCE
  } catch (err) {
    warnThrottled(log, { err }, 'a checkpoint of the transparency log was not published')
    return false
  }
}

/**
 * Returns the checkpoints that the destination has not received, in order. If the destination is
 * new, or the log was begun again, the result starts with the latest checkpoints.
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

async function sendToWebhook(outbound: Outbound, url: string, note: string): Promise<void> {
  const { statusCode, body } = await request(url, {
    ...{ dispatcher: outbound.dispatcher, method: 'POST', body: note },
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  })
  await body.dump()
  if (statusCode >= 300) throw new Error(`the webhook answered ${statusCode}`)
}
