import type { BatchRecord } from '#domain/batches/decide.ts'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import { isDatabaseAway } from '#infra/postgres/query-timeouts.ts'
import { objectOf, parsedObject, textOf } from '#relay/canonical/json-values.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { runInParallel } from '../run-in-parallel.ts'
import { sendTaskRequest } from '../tasks/send-request-to-task-provider.ts'
import type { RelayKey } from '../views/channel-view.ts'
import {
  keysOfSubmitted,
  mayBeOfOtherAccount,
  type SubmittedWith,
  sendWithKeys,
} from '../views/submission-checks-and-key-retries.ts'
import type { BatchDescription } from './batch-protocol.ts'
import type { StoredBatch, UploadedFile } from './batch-store.ts'
import { openDownload } from './download-batch-results-from-provider.ts'
import { NO_FILE_LIMITS, type StoredFile } from './file-record-store.ts'
import {
  contentPathOf,
  FILES_PATH,
  filePathOf,
  type OpenAiBatchRequest,
  openAiIdOf,
  type ResultKind,
  resultFileIdOf,
} from './openai-batches.ts'
import { uploadNameOf } from './upload-batch-file-to-provider.ts'

/** The time for which an uploaded file is kept, unless the caller requests another time. */
export const FILE_RETENTION_MS = 30 * 86_400_000
const DELETION_MS = 10_000
/** The maximum time in milliseconds to count the bytes of a file. */
const COUNTING_MS = 60_000
const SEARCH_MS = 30_000
const EXPIRED_AT_ONCE = 100
/** The number of files on a page of a provider's list. */
const LISTED_AT_ONCE = 1_000
/** The maximum number of pages of a provider's list that are read. */
const LISTED_PAGES_MAX = 10
/**
 * The pause in milliseconds before the next attempt to delete a file of an erased user, or a file
 * whose upload was not recorded.
 */
const RETRY_DELETION_MS = 3_600_000
const UNRECORDED_MS = 7 * 86_400_000
const DELETIONS_AT_ONCE = 10
const NOT_DELETED = 'the uploaded file of a batch could not be deleted'

type Deps = RelayDeps & { readonly batchOutbound: Pick<Outbound, 'via'> }

type Results = {
  readonly description: BatchDescription
  /** The length of the file with the billed results. */
  readonly outputBytes: number
  readonly signal: AbortSignal
}

/**
 * Adds records of the files with a batch's results, so that the caller can list and download the
 * files. Called after the lines were billed. A second call adds no more records, because the ids of
 * the files depend only on the batch. The recorded lengths are those of the provider's files. The
 * caller receives files of about this length, in which ids and names are replaced.
 */
export async function registerResultFiles(
  deps: Deps,
  key: RelayKey,
  stored: Pick<StoredBatch, 'userId' | 'request'>,
  { submitted: { batch, userId }, place }: BatchRecord,
  { description: { files }, outputBytes, signal }: Results,
): Promise<void> {
  if (files === undefined || place === null) return
  const { fileStore, now } = deps
  const { channelId } = place
  const { keyRef } = key
  const lifetimeMs = await lifetimeOfResults(deps, stored)
  const createdAt = now()
  for (const kind of ['output', 'error'] as const satisfies readonly ResultKind[]) {
    const upstreamId = files[kind]
    if (upstreamId === null) continue
    const file = resultFileIdOf(batch, kind)
    const bytes = kind === 'output' ? outputBytes : await lengthOf(deps, key, upstreamId, signal)
    const facts = { file, userId, bytes, name: null, batch, createdAt }
    const expiresAt = createdAt + lifetimeMs
    await fileStore.add({ ...facts, expiresAt, channelId, keyRef, upstreamId }, NO_FILE_LIMITS)
  }
}

/**
 * Returns how long the files with a batch's results are kept, in milliseconds. If the submission
 * can't be decrypted, for example because the user was erased, the usual time is returned.
 */
async function lifetimeOfResults(
  { vault }: Pick<Deps, 'vault'>,
  { userId, request }: Pick<StoredBatch, 'userId' | 'request'>,
): Promise<number> {
  if (request === null) return FILE_RETENTION_MS
  const text = await vault.open(userId, request).catch((error: unknown) => {
    if (isDatabaseAway(error)) throw error
    return null
  })
  const submission = text === null ? null : (JSON.parse(text) as Partial<OpenAiBatchRequest>)
  return submission?.outputLifetimeMs ?? FILE_RETENTION_MS
}

/**
 * Returns the length of a provider's file in bytes. If the provider does not state the length, the
 * file is downloaded and its bytes are counted. Returns 0 if this fails, because a batch must be
 * ended even if the length of a file can't be found out. Rejects if `signal` was aborted meanwhile.
 */
async function lengthOf(
  deps: Deps,
  key: RelayKey,
  upstreamId: string,
  signal: AbortSignal,
): Promise<number> {
  const request = { method: 'GET', path: filePathOf(upstreamId) } as const
  const end = await sendTaskRequest(deps.batchOutbound, key.target, request)
  const stated = end.kind === 'plain' ? parsedObject(end.body)?.bytes : 0
  if (typeof stated === 'number' && Number.isSafeInteger(stated) && stated > 0) return stated
  const download = { keys: [key], path: contentPathOf(upstreamId), headers: {} }
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(COUNTING_MS)])
  let length = 0
  try {
    for await (const chunk of await openDownload(deps, download, inTime)) length += chunk.length
  } catch (err) {
    // The process stops. A later settlement of the batch counts the bytes.
    if (signal.aborted) throw err
    deps.log.warn({ err }, 'the length of a file with errors of a batch could not be counted')
    return 0
  }
  return length
}

/**
 * Deletes the file that the gateway uploaded to submit the batch. If this fails, the file stays
 * until the provider deletes it.
 */
export async function deleteInputFile(
  { batchOutbound }: Pick<Deps, 'batchOutbound'>,
  { target }: RelayKey,
  { files }: BatchDescription,
): Promise<void> {
  if (files === undefined || files.input === null) return
  const path = filePathOf(files.input)
  const signal = AbortSignal.timeout(DELETION_MS)
  await sendTaskRequest(batchOutbound, target, { method: 'DELETE', path }, signal)
}

/**
 * Deletes the file that the gateway uploaded to submit a batch that has ended without its results.
 * A failure is only logged. A batch of an earlier version of the gateway has no record of the file.
 * The id of the file is then taken from `object`, the last stored description of the batch.
 */
export async function deleteInputOfFailed(
  deps: Deps,
  { place, submitted: { batch } }: BatchRecord,
  uploaded: UploadedFile | null,
  object: Readonly<Record<string, unknown>> | null,
): Promise<void> {
  const described = object?.inputFile
  const ofPlace =
    place === null || typeof described !== 'string' ? null : { ...place, upstreamId: described }
  const file: UploadedFile | null = uploaded ?? ofPlace
  if (file === null) return
  try {
    const { channelId, keyRef, upstreamId } = file
    const isDeleted =
      upstreamId === null
        ? await deleteFilesNamed(deps, { channelId, keyRef }, uploadNameOf(openAiIdOf(batch)))
        : await deleteAtProvider(deps, { channelId, keyRef, upstreamId })
    if (!isDeleted) deps.log.warn({ call: batch, channelId }, NOT_DELETED)
  } catch (err) {
    deps.log.warn({ err, call: batch }, NOT_DELETED)
  }
}

/**
 * Deletes a file at its provider. Returns false if the file may still exist there. Returns true for
 * a file that nobody can delete, because its channel was deleted or its key was replaced by one of
 * another account.
 */
export async function deleteAtProvider(
  deps: Deps,
  file: Pick<StoredFile, 'channelId' | 'keyRef' | 'upstreamId'>,
): Promise<boolean> {
  const keys = keysOfSubmitted(deps.views.channels, file)
  // The keys of a deleted channel no longer exist, so nobody can read its files.
  if (keys.length === 0) return true
  const path = filePathOf(file.upstreamId)
  const signal = AbortSignal.timeout(DELETION_MS)
  const request = { method: 'DELETE', path } as const
  const send = ({ target }: RelayKey) =>
    sendTaskRequest(deps.batchOutbound, target, request, signal)
  const end = await sendWithKeys(keys, send)
  if (end?.kind !== 'failed') return end?.kind === 'plain'
  // If the key that uploaded the file was replaced, the new key may belong to another account. The
  // provider then refuses the request, and nobody can delete the file.
  const isReplaced = keys.every(({ keyRef }) => keyRef !== file.keyRef)
  return end.status === 404 || (isReplaced && mayBeOfOtherAccount(end.status))
}

/**
 * Deletes the files with this name at a provider, which were uploaded while the gateway could not
 * record their ids. Searches only the provider's latest files that were uploaded for batches.
 * Returns false if such a file may still exist there, for example because `stopped` has ended the
 * search.
 */
export async function deleteFilesNamed(
  deps: Deps,
  place: SubmittedWith,
  name: string,
  stopped?: AbortSignal,
): Promise<boolean> {
  const keys = keysOfSubmitted(deps.views.channels, place)
  // The keys of a deleted channel no longer exist, so nobody can read its files.
  if (keys.length === 0) return true
  // All pages of a search share one time limit, because other deletions wait for the search.
  const inTime = AbortSignal.timeout(SEARCH_MS)
  const signal = stopped === undefined ? inTime : AbortSignal.any([stopped, inTime])
  let after = ''
  for (let page = 0; page < LISTED_PAGES_MAX; page += 1) {
    const path = `${FILES_PATH}?purpose=batch&order=desc&limit=${LISTED_AT_ONCE}${after}`
    const request = { method: 'GET', path } as const
    const send = ({ target }: RelayKey) =>
      sendTaskRequest(deps.batchOutbound, target, request, signal)
    const listed = await sendWithKeys(keys, send)
    const list = listed?.kind === 'plain' ? parsedObject(listed.body) : null
    if (list === null || !Array.isArray(list.data)) return false
    const files = list.data.map(objectOf)
    const found = files.flatMap((file) => (file?.filename === name ? (textOf(file.id) ?? []) : []))
    const deletions = found.map((upstreamId) => deleteAtProvider(deps, { ...place, upstreamId }))
    if (found.length > 0) return (await Promise.all(deletions)).every((isDeleted) => isDeleted)
    const last = files.at(-1)?.id
    if (list.has_more !== true || typeof last !== 'string') return true
    after = `&after=${encodeURIComponent(last)}`
  }
  return false
}

/**
 * Lets the files of erased users expire, so that they are deleted at their providers. Nobody else
 * can read or delete these files any more. A user is erased if the user's data key is destroyed.
 * A file that expires within `RETRY_DELETION_MS` keeps its time, because that time may be the next
 * attempt to delete it. Otherwise, the files of a provider that fails would be tried again after
 * each search, and would come before the files of other providers.
 */
export async function expireFilesOfErasedUsers({
  fileStore,
  vault,
  now,
}: Pick<Deps, 'fileStore' | 'vault' | 'now'>): Promise<void> {
  const erased = await erasedAmong(vault, await fileStore.owners())
  const at = now()
  if (erased.size > 0) await fileStore.expireOfUsers([...erased], at, at + RETRY_DELETION_MS)
}

async function erasedAmong(
  vault: Pick<Deps['vault'], 'withDataKey'>,
  userIds: readonly number[],
): Promise<ReadonlySet<number>> {
  if (userIds.length === 0) return new Set()
  const withKey = new Set(await vault.withDataKey(userIds))
  return new Set(userIds.filter((userId) => !withKey.has(userId)))
}

/**
 * Deletes expired files at their providers, and the gateway's records of these files. A record is
 * deleted even if the deletion at the provider fails. There are two exceptions, which are kept for
 * further attempts: a record without the provider's id of the file, and the record of an erased
 * user's file. They are kept for at most `UNRECORDED_MS` after the file would have expired.
 */
export async function deleteExpiredFiles(deps: Deps, signal: AbortSignal): Promise<void> {
  const { fileStore, now, vault } = deps
  const expired = await fileStore.expired(now(), EXPIRED_AT_ONCE)
  const erased = await erasedAmong(vault, [...new Set(expired.map(({ userId }) => userId))])
  await runInParallel(expired, DELETIONS_AT_ONCE, signal, async (stored) => {
    const { file, createdAt, upstreamId, userId } = stored
    const isRecorded = upstreamId !== ''
    const isDeleted = isRecorded
      ? await deleteAtProvider(deps, stored)
      : await deleteFilesNamed(deps, stored, uploadNameOf(file), signal)
    if (!isDeleted && (!isRecorded || erased.has(userId))) {
      if (signal.aborted) return
      const until = now() + RETRY_DELETION_MS
      const lifetimeMs = isRecorded ? FILE_RETENTION_MS : 0
      if (until < createdAt + lifetimeMs + UNRECORDED_MS) return fileStore.expire(file, until)
    }
    await fileStore.remove(file)
  })
}
