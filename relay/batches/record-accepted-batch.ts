import { setTimeout as delay } from 'node:timers/promises'
import type { Attempt } from '#domain/accounts/events.ts'
import { sendTaskRequest } from '../tasks/send-request-to-task-provider.ts'
import { billedChannelOf, type RelayChannel, type RelayKey } from '../views/channel-view.ts'
import { type BatchProtocol, pathOfBatch } from './batch-protocol.ts'
import type { OmissionsOfLines } from './omissions-of-lines.ts'
import type { BatchDeps } from './settle-batch.ts'

/** The pauses between the attempts to record that a provider has accepted a batch. */
const PAUSES_MS = [200, 600, 1_500]
/**
 * No attempt begins later than this number of milliseconds after the first one, because each
 * attempt may wait long for the event store.
 */
const RECORDED_WITHIN_MS = 10_000
const CANCEL_MS = 10_000

type Acceptance = {
  readonly batch: string
  readonly upstreamId: string
  readonly channel: RelayChannel
  readonly key: RelayKey
  readonly protocol: BatchProtocol
  readonly omissions: Pick<OmissionsOfLines, 'recorded'>
  /** Returns the record of the attempt. `acceptedId` is the provider's id of the batch. */
  readonly attemptOf: (acceptedId: string) => Promise<Attempt>
}

/**
 * Records that a provider has accepted a batch. Returns true once this is durable. If this fails
 * several times, the batch is canceled at the provider, and false is returned. Without the
 * cancellation, the batch would count as lost and its quota would be released, but the provider
 * would process the batch and charge the site.
 */
export async function recordAccepted(deps: BatchDeps, acceptance: Acceptance): Promise<boolean> {
  const { batch, upstreamId, channel, key, omissions } = acceptance
  const attempt = await attemptOfAccepted(deps, acceptance)
  const ids = { keyRef: key.keyRef, upstreamId }
  const place = { ...billedChannelOf(channel), ...ids, ...attempt, ...omissions.recorded }
  const startedAt = performance.now()
  for (const pauseMs of [...PAUSES_MS, null]) {
    try {
      // An attempt may fail although the acceptance was written. Repeated attempts do not write it
      // twice.
      await deps.ledger.accept(batch, place)
      return true
    } catch (err) {
      const ids = { call: batch, channelId: place.channelId, upstreamId }
      deps.log.error({ err, ...ids }, 'an accepted batch could not be recorded')
      if (pauseMs === null || performance.now() - startedAt > RECORDED_WITHIN_MS) break
      await delay(pauseMs)
    }
  }
  await cancelAtProvider(deps, acceptance)
  return false
}

/**
 * Returns the record of the attempt, which can be computed only once. If that fails, returns an
 * empty object, because it is better to record the acceptance without the attempt than not at all.
 */
async function attemptOfAccepted(
  { log }: BatchDeps,
  { batch, upstreamId, attemptOf }: Acceptance,
): Promise<{ readonly attempt?: Attempt }> {
  try {
    return { attempt: await attemptOf(upstreamId) }
  } catch (err) {
    log.error({ err, call: batch }, 'the evidence of an accepted batch could not be collected')
    return {}
  }
}

/**
 * Handles a submission that the provider answered with success, but with a description that can't
 * be read. The batch may run and cost money. If the provider's id of the batch is known, the batch
 * is recorded and canceled. The quota then stays reserved until the provider reports the end of the
 * batch, and the processed lines are billed. If the id is not known, the quota is released when the
 * batch counts as lost.
 */
export async function cancelUnreadable(
  deps: BatchDeps,
  {
    upstreamId,
    ...others
  }: Omit<Acceptance, 'upstreamId'> & { readonly upstreamId: string | null },
): Promise<void> {
  const { batch, channel } = others
  const ids = { call: batch, channelId: channel.channelId, upstreamId }
  deps.log.error(ids, 'the description of a submitted batch could not be read')
  if (upstreamId === null) return
  const acceptance = { ...others, upstreamId }
  if (await recordAccepted(deps, acceptance)) await cancelAtProvider(deps, acceptance)
}

async function cancelAtProvider(
  { batchOutbound, log }: BatchDeps,
  { batch, upstreamId, channel, key, protocol }: Acceptance,
): Promise<void> {
  const { headers, cancelAction } = protocol
  const path = pathOfBatch(protocol, upstreamId, cancelAction)
  const request = { method: 'POST', path, headers } as const
  const ids = { call: batch, channelId: channel.channelId, upstreamId }
  try {
    const signal = AbortSignal.timeout(CANCEL_MS)
    const end = await sendTaskRequest(batchOutbound, key.target, request, signal)
    if (end.kind === 'plain') log.warn(ids, 'a batch was canceled, because its acceptance failed')
    else
      log.error(
        { ...ids, status: end.status },
        'a batch whose acceptance failed could not be canceled',
      )
  } catch (err) {
    log.error({ err, ...ids }, 'a batch whose acceptance failed could not be canceled')
  }
}
