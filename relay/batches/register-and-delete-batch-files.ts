import type { BatchRecord } from '#domain/batches/decide.ts'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import { inParallel } from '../channel-actions/run-in-parallel.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { sendTaskRequest } from '../tasks/send-request-to-task-provider.ts'
import type { RelayKey } from '../views/channel-view.ts'
import {
  keysOfSubmitted,
  mayBeOfOtherAccount,
  sendWithKeys,
} from '../views/keys-that-may-own-submitted-work.ts'
import { NO_FILE_LIMITS, type StoredFile } from './file-store.ts'
import { filePathOf, type ResultKind, resultFileIdOf } from './openai-batches.ts'
import { type BatchDescription, objectIn } from './provider-batch-api.ts'

/** The time for which a file is kept if the caller sets no other time. */
export const FILE_RETENTION_MS = 30 * 86_400_000
const DELETION_MS = 10_000
const EXPIRED_AT_ONCE = 100
const DELETIONS_AT_ONCE = 10

type Deps = RelayDeps & { readonly batchOutbound: Pick<Outbound, 'via'> }

/**
 * Registers the files with the results of a batch whose lines are billed. Their ids depend only on
 * the batch, so a repetition changes nothing.
 */
export async function registerResultFiles(
  { fileStore, batchOutbound, now }: Deps,
  { keyRef, target }: RelayKey,
  { submitted: { batch, userId }, place }: BatchRecord,
  { files }: BatchDescription,
): Promise<void> {
  if (files === undefined || place === null) return
  const { channelId } = place
  const createdAt = now()
  for (const kind of ['output', 'error'] as const satisfies readonly ResultKind[]) {
    const upstreamId = files[kind]
    if (upstreamId === null) continue
    const file = resultFileIdOf(batch, kind)
    const path = filePathOf(upstreamId)
    const end = await sendTaskRequest(batchOutbound, target, { method: 'GET', path })
    const bytes = end.kind === 'plain' ? bytesIn(end.body) : 0
    const facts = { file, userId, bytes, name: null, batch, createdAt }
    const expiresAt = createdAt + FILE_RETENTION_MS
    await fileStore.add({ ...facts, expiresAt, channelId, keyRef, upstreamId }, NO_FILE_LIMITS)
  }
}

/**
 * Reads the length of a file from the provider's description. The rendered file has about the same
 * length.
 */
function bytesIn(body: Buffer): number {
  const bytes = objectIn(body.toString('utf8'))?.bytes
  return typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes > 0 ? bytes : 0
}

/**
 * Deletes the uploaded file with the requests. If this fails, the file stays until the provider
 * deletes it.
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

/** Deletes a file at its provider. Returns false if the file may still exist. */
export async function deleteAtProvider(
  deps: Deps,
  file: Pick<StoredFile, 'channelId' | 'keyRef' | 'upstreamId'>,
): Promise<boolean> {
  const keys = keysOfSubmitted(deps.views.channels, file)
  // Nobody can read the files of a channel that was deleted.
  if (keys.length === 0) return true
  const path = filePathOf(file.upstreamId)
  const signal = AbortSignal.timeout(DELETION_MS)
  const request = { method: 'DELETE', path } as const
  const send = ({ target }: RelayKey) =>
    sendTaskRequest(deps.batchOutbound, target, request, signal)
  const end = await sendWithKeys(keys, send)
  if (end?.kind !== 'failed') return end?.kind === 'plain'
  // A key that replaced the file's own one may belong to another account, which denies the file.
  const isReplaced = keys.every(({ keyRef }) => keyRef !== file.keyRef)
  return end.status === 404 || (isReplaced && mayBeOfOtherAccount(end.status))
}

/**
 * Deletes files that have expired. If the provider can't be reached, only the gateway's record of
 * the file is deleted.
 */
export async function deleteExpiredFiles(deps: Deps, signal: AbortSignal): Promise<void> {
  const expired = await deps.fileStore.expired(deps.now(), EXPIRED_AT_ONCE)
  await inParallel(expired, DELETIONS_AT_ONCE, signal, async (file) => {
    await deleteAtProvider(deps, file)
    await deps.fileStore.remove(file.file)
  })
}
