import { objectOf, parsedObject } from '#relay/canonical/json-values.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import type { KeyedCall } from '../pipeline/claim-idempotency-key.ts'
import { type Exchange, isCallerGone, sendError } from '../pipeline/http-exchange.ts'
import { sendTaskRequest } from '../tasks/send-request-to-task-provider.ts'
import type { SpooledFile } from '../uploads/spooled-file.ts'
import { confidentialTo, type RelayChannel, type RelayKey } from '../views/channel-view.ts'
import { noteKeyRejection } from './batch-channels.ts'
import { PROVIDER_ID } from './batch-protocol.ts'
import {
  channelError,
  channelOffError,
  isRefused,
  NO_STORE,
  refuse,
  sendAccepted,
  sendFailure,
} from './conclude-submission.ts'
import type { StoredFile } from './file-record-store.ts'
import type { OmissionsOfLines } from './omissions-of-lines.ts'
import {
  OPENAI_BATCHES,
  OPENAI_BATCHES_PATH,
  type OpenAiBatchRequest,
  openAiIdOf,
} from './openai-batches.ts'
import { cancelUnreadable, recordAccepted } from './record-accepted-batch.ts'
import { sendSubmission } from './send-batch-and-collect-evidence.ts'
import type { BatchDeps } from './settle-batch.ts'
import { mayHaveFile, recordFailedUpload } from './upload-and-record-file.ts'
import { deleteUploaded, uploadFile, uploadNameOf } from './upload-batch-file-to-provider.ts'

/** The maximum time to look for a batch at the provider. */
const FIND_MS = 10_000

export type BatchFileSubmission = {
  readonly request: OpenAiBatchRequest
  readonly stored: StoredFile
  readonly channel: RelayChannel
  /** The keys to try, in this order. Any of them may belong to the account that owns the file. */
  readonly fileKeys: readonly RelayKey[]
  /** The key with which the changed lines are uploaded as a new file and the batch is submitted. */
  readonly key: RelayKey
  readonly signal: AbortSignal
}

export function refuseWith(exchange: Exchange, error: RelayError): false {
  sendError(exchange, error)
  return false
}

/** The lines as they are sent to the provider, and what the provider does not get of them. */
type ChangedLines = { readonly file: SpooledFile; readonly omissions: OmissionsOfLines }

/**
 * Uploads `file`, which has the lines as they were changed for the provider, and creates the batch
 * at the provider. Returns true if the provider accepted the batch and this was recorded.
 */
export async function uploadLinesAndCreateBatch(
  deps: BatchDeps,
  exchange: Exchange,
  submission: BatchFileSubmission,
  { file, omissions }: ChangedLines,
  keyed: KeyedCall | null,
): Promise<boolean> {
  const { channel, key, signal, stored } = submission
  const unusable = channelOffError(stored.file)
  const error =
    (await channelError(deps, exchange.call, channel.channelId, key, unusable)) ??
    ((await noteUpload(deps, exchange, submission, null)) ? null : NO_STORE)
  if (error !== null) {
    await refuse(deps, exchange.call, keyed)
    return refuseWith(exchange, error)
  }
  const name = uploadNameOf(openAiIdOf(exchange.call))
  const uploaded = await uploadFile(deps, key, { file, name }, signal)
  if ('kind' in uploaded) {
    noteEnd(deps, exchange, submission, uploaded)
    const place = { channelId: channel.channelId, keyRef: key.keyRef }
    const failed = { id: openAiIdOf(exchange.call), userId: submission.stored.userId, ...place }
    // Without a record of the file, the batch stays stored. The poller ends it as lost, and deletes
    // the file.
    if (!mayHaveFile(uploaded) || (await recordFailedUpload(deps, failed))) {
      await refuse(deps, exchange.call, keyed)
    }
    if (uploaded.kind === 'failed') sendFailure(deps, exchange, uploaded, channel)
    else sendError(exchange, relayError('upstream_format'))
    return false
  }
  const { upstreamId } = uploaded
  if (!(await noteUpload(deps, exchange, submission, upstreamId))) {
    await deleteUploaded(deps.batchOutbound, key, upstreamId)
    await refuse(deps, exchange.call, keyed)
    return refuseWith(exchange, NO_STORE)
  }
  // The caller would not learn the id of the batch, and would submit it again.
  if (isCallerGone(exchange)) {
    await deleteUploaded(deps.batchOutbound, key, upstreamId)
    await refuse(deps, exchange.call, keyed)
    return false
  }
  return submitUploaded(deps, exchange, submission, { file, omissions, upstreamId, keyed })
}

/**
 * Stores which file is uploaded for the batch. `upstreamId` is null before the upload, and the
 * provider's id of the file after the upload. If the process dies before the provider has accepted
 * the batch, the poller deletes the file. Returns false if this can't be stored.
 */
async function noteUpload(
  { batchStore, log }: BatchDeps,
  { call: batch }: Exchange,
  { channel: { channelId }, key: { keyRef } }: BatchFileSubmission,
  upstreamId: string | null,
): Promise<boolean> {
  try {
    await batchStore.noteUpload(batch, { channelId, keyRef, upstreamId })
    return true
  } catch (err) {
    log.error({ err, call: batch }, 'the uploaded file of a batch could not be recorded')
    return false
  }
}

/** Reports whether the provider accepts the key (see `noteKeyRejection`). */
function noteEnd(
  deps: BatchDeps,
  { call }: Exchange,
  { channel, key, stored: { userId } }: BatchFileSubmission,
  end: AttemptEnd,
): void {
  // An error may repeat a line of the file, which is not in memory.
  noteKeyRejection(deps, { channel, key, call, userId, requestBody: null }, end)
}

type Uploaded = ChangedLines & {
  /** The provider's id of the file. */
  readonly upstreamId: string
  readonly keyed: KeyedCall | null
}

async function submitUploaded(
  deps: BatchDeps,
  exchange: Exchange,
  submission: BatchFileSubmission,
  { file, omissions, upstreamId: fileId, keyed }: Uploaded,
): Promise<boolean> {
  const { request, stored, channel, key, signal } = submission
  const { batchOutbound } = deps
  const confidential = confidentialTo(channel)
  const { endpoint } = request
  const content = { input_file_id: fileId, endpoint, completion_window: '24h' }
  const body = Buffer.from(JSON.stringify(content))
  const { end, attemptOf } = await sendSubmission(deps, {
    ...{ channelId: channel.channelId, target: key.target, signal },
    request: { method: 'POST', path: OPENAI_BATCHES_PATH, body },
    file: { bytes: file.bytes, sha256: file.sha256 },
  })
  noteEnd(deps, exchange, submission, end)
  const ids = { batch: exchange.call, channel, key }
  const batch = { ...ids, protocol: OPENAI_BATCHES, attemptOf, omissions }
  const description =
    end.kind === 'plain' ? OPENAI_BATCHES.readDescription(end.body, confidential) : null
  if (description !== null) {
    const { upstreamId, object } = description
    if (await recordAccepted(deps, { ...batch, upstreamId })) {
      const { userId } = stored
      await sendAccepted(deps, exchange, { api: 'openai', userId, shown: request, object })
      return true
    }
    await deleteUploaded(batchOutbound, key, fileId)
    return refuseWith(exchange, NO_STORE)
  }
  // The provider has created a batch if it answers with success, even if the body was cut or can't
  // be read.
  const isCreated = end.status !== null && end.status >= 200 && end.status <= 299
  const upstreamId = isCreated ? await findCreated(deps, key, end, fileId) : null
  if (isCreated) await cancelUnreadable(deps, { ...batch, upstreamId })
  // The file is deleted, so that the provider can't process a batch that it has created despite the
  // failure. If the batch was found, its file is deleted when the batch ends.
  if (upstreamId === null) await deleteUploaded(batchOutbound, key, fileId)
  if (end.kind === 'failed') {
    if (isRefused(end)) await refuse(deps, exchange.call, keyed, await attemptOf(null))
    sendFailure(deps, exchange, end, channel)
  } else sendError(exchange, relayError('upstream_format'))
  return false
}

/**
 * Returns the provider's id of a batch that the provider has created, although its response can't
 * be read completely. If the response has no id, looks for the batch with this input file among the
 * provider's latest batches. Returns null if the batch is not found.
 */
async function findCreated(
  { batchOutbound }: BatchDeps,
  { target }: RelayKey,
  end: AttemptEnd,
  fileId: string,
): Promise<string | null> {
  const id = end.kind === 'plain' ? OPENAI_BATCHES.readId(end.body) : null
  if (id !== null) return id
  const request = { method: 'GET', path: `${OPENAI_BATCHES_PATH}?limit=100` } as const
  const listed = await sendTaskRequest(batchOutbound, target, request, AbortSignal.timeout(FIND_MS))
  const data = listed.kind === 'plain' ? parsedObject(listed.body)?.data : null
  const batches = Array.isArray(data) ? data.map(objectOf) : []
  const found = batches.find((one) => one?.input_file_id === fileId)?.id
  return typeof found === 'string' && PROVIDER_ID.test(found) ? found : null
}
