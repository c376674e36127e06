import type { BatchRecord } from '#domain/batches/decide.ts'
import type { BatchApi } from '#domain/batches/events.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { sendTaskRequest } from '../tasks/send-request-to-task-provider.ts'
import { confidentialTo, type RelayKey } from '../views/channel-view.ts'
import { keysOfSubmitted } from '../views/submission-checks-and-key-retries.ts'
import { ANTHROPIC_BATCHES } from './anthropic-batches.ts'
import { type BatchDescription, type BatchProtocol, pathOfBatch } from './batch-protocol.ts'
import { openDownload, ResultsUnavailable } from './download-batch-results-from-provider.ts'
import { GEMINI_BATCHES } from './gemini-batches.ts'
import { OPENAI_BATCHES } from './openai-batches.ts'
import { JsonArraySplitter } from './split-json-array.ts'

export type DescribeDeps = RelayDeps & { readonly batchOutbound: RelayDeps['outbound'] }

const DESCRIBE_MS = 300_000

export const protocolOf = (record: BatchRecord): BatchProtocol => PROTOCOLS[record.submitted.api]

const PROTOCOLS: Readonly<Record<BatchApi, BatchProtocol>> = {
  anthropic: ANTHROPIC_BATCHES,
  openai: OPENAI_BATCHES,
  gemini: GEMINI_BATCHES,
}

/**
 * Returns the keys to try for requests about the batch. These keys belong to the channel to which
 * the batch was submitted. The list is empty if no channel has accepted the batch or if the channel
 * was deleted.
 */
export const keysOf = ({ views }: RelayDeps, { place }: BatchRecord): readonly RelayKey[] =>
  place === null ? [] : keysOfSubmitted(views.channels, place)

export type Described = { readonly description: BatchDescription; readonly key: RelayKey }

/**
 * `missing`: the provider does not know the batch, or a proxy does not know the path. `denied`: the
 * provider denies the key access to the batch.
 */
export type Refusal = 'missing' | 'denied'

/** The statuses with which a provider rejects a key or denies access to a suspended account. */
const DENIALS: ReadonlySet<number> = new Set([401, 403])

/**
 * Asks the provider for its description of a batch. Returns null if the description is not
 * available now. Returns a refusal only if the provider refuses the key that submitted the batch. A
 * refusal of any other key of the channel is ignored, because that key may belong to another
 * account.
 */
export async function describeBatch(
  deps: DescribeDeps,
  record: BatchRecord,
): Promise<Described | Refusal | null> {
  for (const key of keysOf(deps, record)) {
    const found = await describeWith(deps, key, record)
    if (found === null) continue
    if (typeof found !== 'string') return { description: found, key }
    if (key.keyRef === record.place?.keyRef) return found
  }
  return null
}

function refusalOf(status: number | null): Refusal | null {
  if (status === 404) return 'missing'
  return status !== null && DENIALS.has(status) ? 'denied' : null
}

async function describeWith(
  deps: DescribeDeps,
  key: RelayKey,
  record: BatchRecord,
): Promise<BatchDescription | Refusal | null> {
  const { batchOutbound, views } = deps
  const protocol = protocolOf(record)
  const { headers, readDescription, splits } = protocol
  const path = pathOfBatch(protocol, record.place?.upstreamId ?? '')
  if (splits !== undefined) {
    const download = { keys: [key], path, headers }
    return describeWithResults(deps, download, splits, confidentialAt(views, record))
  }
  const request = { method: 'GET', path, headers } as const
  const answer = await sendTaskRequest(batchOutbound, key.target, request)
  if (answer.kind === 'plain') return readDescription(answer.body, confidentialAt(views, record))
  return answer.kind === 'failed' ? refusalOf(answer.status) : null
}

/**
 * Downloads a description that contains the results of the batch. The results are skipped and not
 * kept in memory. Returns a refusal if the provider refuses the request, and null if the
 * description can't be read.
 */
async function describeWithResults(
  deps: DescribeDeps,
  download: Parameters<typeof openDownload>[1],
  { rules, readDescription }: NonNullable<BatchProtocol['splits']>,
  confidential: readonly string[],
): Promise<BatchDescription | Refusal | null> {
  const splitter = new JsonArraySplitter({ ...rules, elementBytesMax: 0, longElements: 'drop' })
  try {
    const body = await openDownload(deps, download, AbortSignal.timeout(DESCRIBE_MS))
    for await (const chunk of body) splitter.push(chunk)
  } catch (error) {
    return error instanceof ResultsUnavailable ? refusalOf(error.status) : null
  }
  return readDescription(splitter.rest, splitter.hasArray, confidential)
}

/**
 * Returns the texts that must be redacted in responses to callers, such as the keys of the batch's
 * channel.
 */
export function confidentialAt(
  { channels }: RelayDeps['views'],
  { place }: BatchRecord,
): readonly string[] {
  const channel = channels.find(place?.channelId ?? -1)
  return channel === undefined ? [] : confidentialTo(channel)
}
