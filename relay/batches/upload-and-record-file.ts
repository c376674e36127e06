import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import { newCallId } from '../pipeline/http-exchange.ts'
import { isRetryable } from '../pipeline/retryable-failures.ts'
import type { SpooledFile } from '../uploads/spooled-file.ts'
import type { RelayChannel, RelayKey } from '../views/channel-view.ts'
import { GIGABYTE } from '../views/option-view.ts'
import type { BatchChannels, BatchPlace } from './batch-channels.ts'
import { type Failed, isRefused } from './conclude-submission.ts'
import {
  type FileLimit,
  type FileLimits,
  NO_FILE_LIMITS,
  type StoredFile,
  UNFINISHED_MS,
  UPLOAD_MS,
} from './file-record-store.ts'
import { fileIdOf } from './openai-batches.ts'
import { deleteAtProvider } from './register-and-delete-batch-files.ts'
import type { BatchDeps } from './settle-batch.ts'
import { uploadFile, uploadNameOf } from './upload-batch-file-to-provider.ts'

/**
 * The time in milliseconds after a failed upload at which the file is looked for at its provider.
 * Before that, the provider may still be storing the file.
 */
const STORING_MS = 60_000
const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

/**
 * Returns the error for the caller if another file of this length would exceed a limit of the user,
 * or if the user's files can't be counted. Otherwise returns null.
 */
export async function exceededLimitError(
  { fileStore, now }: BatchDeps,
  userId: number,
  bytes: number,
  limits: FileLimits,
): Promise<RelayError | null> {
  try {
    const limit = await fileStore.exceeded(userId, bytes, now(), limits)
    return limit === null ? null : limitError(limit, limits)
  } catch {
    return NO_STORE
  }
}

const limitError = (limit: FileLimit, { files, bytes }: FileLimits): RelayError =>
  limit === 'files'
    ? relayError('too_many_files', { subject: `${files}` })
    : relayError('file_storage_full', { subject: `${(bytes ?? 0) / GIGABYTE}` })

type Upload = {
  readonly userId: number
  readonly channel: RelayChannel
  readonly key: RelayKey
  readonly limits: FileLimits
  readonly file: SpooledFile
  readonly lifetimeMs: number
}

/**
 * Uploads a caller's file to one channel after another until a provider has stored it. A file costs
 * nothing, so it is sent to another channel even if the previous provider may have stored it. The
 * copy at the previous provider is deleted later. Returns the stored file, or the last failure.
 */
export async function uploadToChannels(
  deps: BatchDeps,
  call: string,
  channels: BatchChannels,
  upload: Omit<Upload, keyof BatchPlace>,
): Promise<StoredFile | UploadFailure> {
  let last: UploadFailure | null = null
  try {
    for (;;) {
      const place = await channels.next()
      if (place === null) break
      const { channel, key } = place
      const stored = await uploadAndRecord(deps, { channel, key, ...upload })
      if (!isRelayError(stored) && !('kind' in stored)) {
        channels.note(call, STORED, null)
        return stored
      }
      last = { channel, failure: stored }
      if (isRelayError(stored) && stored.code !== 'upstream_format') break
      // The request is the file, which is not in memory.
      channels.note(call, isRelayError(stored) ? UNREADABLE : stored, null)
      if (!isRelayError(stored) && !mayBeUploadedElsewhere(stored)) break
    }
  } finally {
    channels.skip()
  }
  return last ?? { channel: null, failure: channels.noneUsableError() }
}

export type UploadFailure = {
  /** The channel of the last attempt, or null if there was none. */
  readonly channel: RelayChannel | null
  readonly failure: Failed | RelayError
}

const NOTHING = Buffer.alloc(0)
const STORED: AttemptEnd = { kind: 'plain', status: 200, body: NOTHING }
const UNREADABLE: AttemptEnd = {
  ...{ kind: 'failed', status: 200, error: 'format', body: NOTHING, retryAfterMs: 0 },
}

/**
 * Reports whether another channel may be tried after this failure. After a timeout, none is tried,
 * because the caller has waited long enough.
 */
const mayBeUploadedElsewhere = (end: Failed): boolean =>
  end.error !== 'timeout' && isRetryable(end, false)

/**
 * Uploads a caller's file to a provider. The file is recorded before the upload, and the record is
 * completed after it. If the process ends in between, the file can therefore still be found and
 * deleted at the provider. Returns the file, the failure of the provider, or the error for the
 * caller.
 */
async function uploadAndRecord(
  deps: BatchDeps,
  { userId, channel, key, limits, file, lifetimeMs }: Upload,
): Promise<StoredFile | Failed | RelayError> {
  const { fileStore, vault, now, log } = deps
  const createdAt = now()
  const id = fileIdOf(newCallId(createdAt))
  let pending: StoredFile
  try {
    pending = {
      ...{ file: id, userId, bytes: file.bytes, createdAt, batch: null },
      expiresAt: createdAt + UNFINISHED_MS,
      name: await vault.seal(userId, file.name),
      ...{ channelId: channel.channelId, keyRef: key.keyRef, upstreamId: '' },
    }
    const limit = await fileStore.add(pending, limits)
    if (limit !== null) return limitError(limit, limits)
  } catch (err) {
    log.error({ err, file: id }, 'the upload of a file could not be recorded')
    return NO_STORE
  }
  const sent = { file, name: uploadNameOf(id) }
  const uploaded = await uploadFile(deps, key, sent, AbortSignal.timeout(UPLOAD_MS))
  if (!('kind' in uploaded)) {
    return complete(deps, { ...pending, ...uploaded, expiresAt: createdAt + lifetimeMs })
  }
  if (mayHaveFile(uploaded)) await expireSoon(deps, id)
  else await removeRecord(deps, id)
  return uploaded.kind === 'failed' ? uploaded : relayError('upstream_format')
}

/**
 * Reports whether the provider may have a file although its upload failed or was answered without
 * an id. Unlike a batch, a file is looked for after any 5xx status, because this costs nothing and
 * the file is the caller's data.
 */
export const mayHaveFile = (uploaded: AttemptEnd): boolean =>
  uploaded.kind !== 'failed' || !isRefused(uploaded) || (uploaded.status ?? 0) >= 500

/**
 * Lets the record of a failed upload expire, so that the file is deleted at the provider and no
 * longer counts towards the user's limits. If this fails, the record expires later.
 */
async function expireSoon({ fileStore, now, log }: BatchDeps, file: string): Promise<void> {
  await fileStore.expire(file, now() + STORING_MS).catch((err: unknown) => {
    log.warn({ err, file }, 'the record of a failed upload could not be changed')
  })
}

/**
 * Records a file that a provider may have after the failed upload of a batch's requests. The file
 * is later deleted at the provider by its name, and does not count towards the user's limits. `id`
 * is the public id of the batch. Returns false if this can't be stored.
 */
export async function recordFailedUpload(
  { fileStore, now, log }: BatchDeps,
  { id, userId, channelId, keyRef }: FailedUpload,
): Promise<boolean> {
  const createdAt = now()
  const file = { file: id, userId, bytes: 0, createdAt, expiresAt: createdAt + STORING_MS }
  const place = { name: null, batch: null, channelId, keyRef, upstreamId: '' }
  try {
    await fileStore.add({ ...file, ...place }, NO_FILE_LIMITS)
    return true
  } catch (err) {
    log.error({ err, file: id }, 'the failed upload of a file could not be recorded')
    return false
  }
}

type FailedUpload = Pick<StoredFile, 'userId' | 'channelId' | 'keyRef'> & { readonly id: string }

async function complete(deps: BatchDeps, stored: StoredFile): Promise<StoredFile | RelayError> {
  const { fileStore, log } = deps
  const isRecorded = await fileStore.complete(stored).catch((err: unknown) => {
    log.error({ err, file: stored.file }, 'a file could not be recorded')
    return false
  })
  if (isRecorded) return stored
  if (await deleteAtProvider(deps, stored)) await removeRecord(deps, stored.file)
  return NO_STORE
}

/** Removes the record of a file. If this fails, the record expires. */
async function removeRecord({ fileStore, log }: BatchDeps, file: string): Promise<void> {
  await fileStore.remove(file).catch((err: unknown) => {
    log.warn({ err, file }, 'the record of a file could not be removed')
  })
}
