import type { FileHandle } from 'node:fs/promises'
import {
  isRelayError,
  type RelayError,
  type RelayErrorCode,
  relayError,
} from '../canonical/relay-error.ts'
import { acquirePermit, CALLS_NO_MODEL } from '../pipeline/acquire-call-permit.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { currentCaller } from '../pipeline/current-caller.ts'
import { servingGroupsOf } from '../pipeline/groups-that-may-serve-call.ts'
import { type Exchange, sendError, signalOfCallerGone } from '../pipeline/http-exchange.ts'
import { readBody } from '../pipeline/read-body.ts'
import { rejectUnreadRequest } from '../pipeline/send-error-before-body-is-read.ts'
import { bodyShareOf } from '../pipeline/user-share-of-body-memory.ts'
import { type SpooledFile, spool } from '../uploads/spooled-file.ts'
import { isUnexpired } from '../views/channel-expiry.ts'
import { isChannelDeleted, keysOfSubmitted } from '../views/submission-checks-and-key-retries.ts'
import { claimKeyOfBatch } from './claim-idempotency-key-of-batch.ts'
import { channelOffError, NO_STORE } from './conclude-submission.ts'
import { downloadError, isGone, openDownload } from './download-batch-results-from-provider.ts'
import type { StoredFile } from './file-record-store.ts'
import { FileReaders } from './limit-file-readers.ts'
import { contentPathOf, isFileId, type OpenAiBatchRequest } from './openai-batches.ts'
import { callsOf } from './plan-batch.ts'
import { FILE_LINE_BYTES_MAX, FilePlan, FileRefused } from './plan-batch-file.ts'
import { readOpenAiBatchRequest } from './read-openai-batch-request.ts'
import type { BatchDeps } from './settle-batch.ts'
import { errorOfGroups, holdBatch, outcomeOf, type Permitted } from './submit-batch.ts'
import {
  type BatchFileSubmission,
  refuseWith,
  uploadLinesAndCreateBatch,
} from './upload-lines-and-create-batch.ts'

/**
 * The maximum time from the caller's request to the provider's response. It is shorter than
 * `LOST_MS`, after which a batch that no provider has accepted counts as lost.
 */
const SUBMIT_MS = 480_000
/**
 * The memory in bytes that is reserved while a file is read. It has room for the longest line and
 * for the changed line that is sent.
 */
const READING_BYTES = 3 * FILE_LINE_BYTES_MAX
const BUSY = relayError('overloaded', { retryAfter: 5 })

const readers = new FileReaders()

/**
 * Runs `work`, which reads a file of this user line by line, once a reader is free. Returns an
 * error if no reader becomes free in time, if the caller leaves during the wait, or if too little
 * memory is left.
 */
export async function whileReadingFile<T>(
  { bodyMemory }: Pick<BatchDeps, 'bodyMemory'>,
  exchange: Pick<Exchange, 'response'>,
  { user: { userId } }: Pick<Caller, 'user'>,
  work: () => Promise<T>,
): Promise<T | RelayError> {
  const release = await readers.acquire(userId, signalOfCallerGone(exchange))
  if (release === null) return BUSY
  if (!bodyMemory.take(READING_BYTES)) {
    release()
    return BUSY
  }
  try {
    return await work()
  } finally {
    release()
    bodyMemory.giveBack(READING_BYTES)
  }
}

/** Handles `POST /v1/batches`, from the caller's request to the response. */
export async function submitBatchFile(
  deps: BatchDeps,
  exchange: Exchange,
  authenticated: Caller,
): Promise<void> {
  const { bodyMemory } = deps
  const owner = await bodyShareOf(deps, authenticated.user.userId, exchange.request)
  const body = await readBody(exchange.request, bodyMemory, owner)
  if (isRelayError(body)) return rejectUnreadRequest(exchange, body)
  try {
    const caller = await currentCaller(deps, authenticated, exchange)
    if (isRelayError(caller)) return sendError(exchange, caller)
    const permit = await acquirePermit(deps, caller, CALLS_NO_MODEL)
    if (isRelayError(permit)) return sendError(exchange, permit)
    let isSuccess = false
    try {
      isSuccess = await submitBody(deps, exchange, { caller, permit }, body)
    } finally {
      permit.release(outcomeOf(isSuccess))
    }
  } finally {
    bodyMemory.giveBack(body.length)
    bodyMemory.release(owner, body.length)
  }
}

async function submitBody(
  deps: BatchDeps,
  arrived: Exchange,
  permitted: Permitted,
  body: Buffer,
): Promise<boolean> {
  const { caller } = permitted
  const request = readOpenAiBatchRequest(body)
  if (isRelayError(request)) return refuseWith(arrived, request)
  const keyed = await claimKeyOfBatch(deps, arrived, caller, { work: 'chat', body })
  if (keyed !== null && isRelayError(keyed)) return refuseWith(arrived, keyed)
  const exchange = keyed === null ? arrived : { ...arrived, call: keyed.call }
  const left = Math.max(1, exchange.startedAt + SUBMIT_MS - deps.now())
  const submission = await submissionOf(deps, caller, request, AbortSignal.timeout(left))
  if (isRelayError(submission)) return refuseWith(exchange, submission)
  const planned = await whileReadingFile(deps, exchange, permitted.caller, () =>
    planFile(deps, exchange, permitted, submission),
  )
  if (isRelayError(planned)) return refuseWith(exchange, planned)
  try {
    const error = await holdBatch(deps, exchange, caller, {
      ...{ api: 'openai', group: planned.group, shown: submission.request },
      channelId: submission.channel.channelId,
      ...{ parts: planned.plan.parts, lines: planned.plan.lines },
    })
    if (error !== null) return refuseWith(exchange, error)
    const { omissions } = planned.plan
    omissions.setHeaders(exchange)
    const lines = { file: planned.file, omissions }
    return await uploadLinesAndCreateBatch(deps, exchange, submission, lines, keyed)
  } finally {
    planned.release()
  }
}

/**
 * Finds the file with the requests, and the channel and the keys with which the file can be read.
 */
async function submissionOf(
  deps: BatchDeps,
  { user: { userId } }: Caller,
  request: OpenAiBatchRequest,
  signal: AbortSignal,
): Promise<BatchFileSubmission | RelayError> {
  const { fileStore, views, now } = deps
  const id = request.input_file_id
  const missing = relayError('file_not_found', { param: 'input_file_id', subject: id.slice(0, 64) })
  try {
    const stored = isFileId(id) ? await fileStore.find(userId, id, now()) : undefined
    if (stored === undefined) return missing
    if (stored.batch !== null) return relayError('invalid_parameter', { param: 'input_file_id' })
    const channel = views.channels.find(stored.channelId)
    const fileKeys = keysOfSubmitted(views.channels, stored)
    const key = fileKeys.find((one) => channel?.keys.includes(one) === true)
    const isUsable = channel?.isEnabled === true && isUnexpired(channel.terms, now())
    if (await isChannelDeleted(deps, stored.channelId)) {
      return relayError('channel_deleted', { param: 'input_file_id', subject: id })
    }
    if (channel === undefined || key === undefined || !isUsable) return channelOffError(id)
    return { request, stored, channel, fileKeys, key, signal }
  } catch {
    return NO_STORE
  }
}

/** The changed lines in a file on disk, with their plan. `release` gives back the disk space. */
type PlannedFile = {
  readonly group: string
  readonly plan: FilePlan
  readonly file: SpooledFile
  readonly release: () => void
}

/** The errors that do not depend on the group, mostly those of the download of the file. */
const SAME_IN_EVERY_GROUP: ReadonlySet<RelayErrorCode> = new Set([
  ...(['overloaded', 'upstream_unreachable', 'upstream_error', 'key_replaced'] as const),
])

/**
 * Plans the lines in the first of the caller's groups that may use the channel for all lines. Each
 * plan reads the whole file, so groups whose limits of calls are used up are skipped without a
 * plan. The numbers of calls and tokens are the same in each group. After the first plan, they are
 * known, so the limits of another group are checked with these numbers before the lines are planned
 * again.
 */
async function planFile(
  deps: BatchDeps,
  exchange: Exchange,
  { caller, permit }: Permitted,
  submission: BatchFileSubmission,
): Promise<PlannedFile | RelayError> {
  let first: RelayError | null = null
  let calls: ReturnType<typeof callsOf> | null = null
  for (const group of servingGroupsOf(caller, deps.views)) {
    const known = calls !== null
    const full = calls === null ? permit.groupErrorOf(group) : await permit.claimBatch(group, calls)
    if (full !== null) {
      first = errorOfGroups(first, full)
      continue
    }
    const planned = await planInGroup(deps, exchange, { ...caller, group }, submission)
    if (isRelayError(planned)) {
      if (known) permit.releaseBatch()
      first = errorOfGroups(first, planned)
      if (SAME_IN_EVERY_GROUP.has(planned.code)) break
      continue
    }
    calls = callsOf(planned.plan)
    const error = known ? null : await permit.claimBatch(group, calls)
    if (error === null) return planned
    planned.release()
    first = errorOfGroups(first, error)
  }
  return first ?? relayError('group_not_allowed', { subject: caller.group })
}

async function planInGroup(
  deps: BatchDeps,
  { call, request }: Exchange,
  caller: Caller,
  { request: { endpoint }, stored, channel, fileKeys, signal }: BatchFileSubmission,
): Promise<PlannedFile | RelayError> {
  const { uploads } = deps
  const share = await bodyShareOf(deps, caller.user.userId, request)
  const owner = { ...share, bytesMax: share.bytesMax * 4 }
  let reserved = 0
  const giveBack = () => {
    uploads.space.release(owner, reserved)
    uploads.space.giveBack(reserved)
    reserved = 0
  }
  const take = (bytes: number): boolean => {
    if (!uploads.space.reserve(owner, bytes)) return false
    if (uploads.space.take(bytes)) {
      reserved += bytes
      return true
    }
    uploads.space.release(owner, bytes)
    return false
  }
  try {
    if (!take(stored.bytes)) throw new NoRoom()
    const handle = await createFile(uploads, stored.bytes)
    const plan = new FilePlan(deps, channel.channelId, call, endpoint)
    const path = contentPathOf(stored.upstreamId)
    const download = { keys: fileKeys, keyRef: stored.keyRef, path, headers: {} }
    const content = await openDownload(deps, download, signal).catch(async (error: unknown) => {
      await handle.close()
      throw error
    })
    const sent = counted(plan.sentLines(caller, content), stored.bytes, take)
    const description = { name: 'batch.jsonl', type: 'application/jsonl' }
    const hasRoom = () => hasRoomFor(uploads, 0)
    const file = await spool(sent, description, handle, hasRoom)
    const release = () => {
      giveBack()
      file.close().catch(() => {})
    }
    return { group: caller.group, plan, file, release }
  } catch (error) {
    giveBack()
    return errorOf(error, stored)
  }
}

class NoRoom extends Error {}

type Uploads = BatchDeps['uploads']

/** Throws `NoRoom` unless the disk has room for this number of bytes. */
async function hasRoomFor(uploads: Uploads, bytes: number): Promise<true> {
  if (await uploads.hasRoomFor(bytes).catch(() => false)) return true
  throw new NoRoom()
}

/** Creates the file for the changed lines. Throws `NoRoom` if the disk is full or can't be used. */
async function createFile(uploads: Uploads, bytes: number): Promise<FileHandle> {
  await hasRoomFor(uploads, bytes)
  return uploads.create().catch(() => {
    throw new NoRoom()
  })
}

/**
 * Yields the given lines. If they are longer than `free` bytes, reserves more space on disk. Throws
 * `NoRoom` if the disk has no more space.
 */
async function* counted(
  lines: AsyncIterable<Buffer>,
  free: number,
  take: (bytes: number) => boolean,
): AsyncGenerator<Buffer> {
  let left = free
  for await (const line of lines) {
    if (line.length > left && !take(line.length - Math.max(0, left))) throw new NoRoom()
    left = Math.max(0, left - line.length)
    yield line
  }
}

function errorOf(error: unknown, { file }: StoredFile): RelayError {
  if (error instanceof FileRefused) return error.error
  if (error instanceof NoRoom) return BUSY
  if (isGone(error)) return relayError('file_not_found', { param: 'input_file_id', subject: file })
  return downloadError(error, file)
}
