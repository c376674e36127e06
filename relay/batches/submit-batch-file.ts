import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { isMembers } from '../dialects/check-common-request-members.ts'
import { jsonError } from '../dialects/invalid-json-error.ts'
import { scanObject } from '../dialects/scan-request-object.ts'
import { acquirePermit, CALLS_NO_MODEL } from '../pipeline/acquire-call-permit.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { bodyOwnerOf } from '../pipeline/body-memory-limit-of-user.ts'
import { claimIdempotencyKey, type KeyedCall } from '../pipeline/claim-idempotency-key.ts'
import { type Exchange, sendError } from '../pipeline/http-exchange.ts'
import { servingGroupsOf } from '../pipeline/plan-call-with-fallbacks.ts'
import { readBody } from '../pipeline/read-body.ts'
import { rejectUpload } from '../pipeline/send-error-before-body-is-read.ts'
import { type SpooledFile, spool } from '../uploads/spooled-file.ts'
import { confidentialTo, placeOf, type RelayChannel, type RelayKey } from '../views/channel-view.ts'
import { keysOfSubmitted, mayBeSentTo } from '../views/keys-that-may-own-submitted-work.ts'
import { openDownload, ResultsUnavailable } from './download-batch-results.ts'
import type { StoredFile } from './file-store.ts'
import {
  BATCH_ENDPOINTS,
  contentPathOf,
  isFileId,
  OPENAI_BATCHES,
  OPENAI_BATCHES_PATH,
  type OpenAiBatchRequest,
} from './openai-batches.ts'
import { callsOf } from './plan-batch.ts'
import { FILE_LINE_BYTES_MAX, FilePlan, FileRefused } from './plan-batch-file.ts'
import { objectIn, recordOf } from './provider-batch-api.ts'
import { sendSubmission } from './provider-evidence-of-batch.ts'
import type { BatchDeps } from './settle-batch.ts'
import {
  holdBatch,
  isRefused,
  NO_STORE,
  outcomeOf,
  type Permitted,
  refuse,
  sendAccepted,
  sendFailure,
} from './submit-batch.ts'
import { deleteUploaded, uploadFile } from './upload-to-provider.ts'

const BODY_BYTES_MAX = 1024 * 1024
/**
 * The time from the arrival of the request to the provider's answer. It is shorter than the time
 * after which a batch without a provider counts as lost.
 */
const SUBMIT_MS = 480_000
/** The number of files that a process reads at once to submit or check them. */
const FILES_AT_ONCE = 4
/** The memory for reading a file: its longest line, and the line that is sent instead. */
const READING_BYTES = 3 * FILE_LINE_BYTES_MAX
const METADATA_MAX = 16
const METADATA_KEY_MAX = 64
const METADATA_VALUE_MAX = 512
const BUSY = relayError('overloaded', { retryAfter: 5 })

let filesAtOnce = 0

/**
 * Runs work that reads a file line by line. Returns an error if the process already reads
 * `FILES_AT_ONCE` files.
 */
export async function whileReadingFile<T>(
  { bodies }: Pick<BatchDeps, 'bodies'>,
  work: () => Promise<T>,
): Promise<T | RelayError> {
  if (filesAtOnce >= FILES_AT_ONCE || !bodies.take(READING_BYTES)) return BUSY
  filesAtOnce += 1
  try {
    return await work()
  } finally {
    filesAtOnce -= 1
    bodies.giveBack(READING_BYTES)
  }
}

/** Handles `POST /v1/batches`, from the caller's request to the provider's answer. */
export async function submitBatchFile(
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
): Promise<void> {
  const { bodies } = deps
  const owner = await bodyOwnerOf(deps, caller.user.userId, exchange.request)
  const body = await readBody(exchange.request, bodies, owner)
  if (isRelayError(body)) return rejectUpload(exchange, body)
  try {
    const permit = await acquirePermit(deps, caller, CALLS_NO_MODEL)
    if (isRelayError(permit)) return sendError(exchange, permit)
    let isSuccess = false
    try {
      isSuccess = await submitBody(deps, exchange, { caller, permit }, body)
    } finally {
      permit.release(outcomeOf(isSuccess))
    }
  } finally {
    bodies.giveBack(body.length)
    bodies.release(owner, body.length)
  }
}

const invalid = (param: string): RelayError => relayError('invalid_parameter', { param })

function readRequest(body: Buffer): OpenAiBatchRequest | RelayError {
  if (body.length > BODY_BYTES_MAX) return relayError('request_too_large', { subject: '1' })
  const members = scanObject(body)
  if (!isMembers(members)) return jsonError(body, members)
  const value = objectIn(body.toString('utf8')) ?? {}
  const { input_file_id, endpoint, completion_window, metadata = null, ...others } = value
  const [other] = Object.keys(others)
  if (other !== undefined) return relayError('parameter_not_supported', { param: other })
  for (const param of ['input_file_id', 'endpoint', 'completion_window']) {
    if (value[param] === undefined) return relayError('missing_parameter', { param })
  }
  if (typeof input_file_id !== 'string') return invalid('input_file_id')
  if (typeof endpoint !== 'string' || !BATCH_ENDPOINTS.has(endpoint)) return invalid('endpoint')
  if (completion_window !== '24h') return invalid('completion_window')
  const pairs = metadata === null ? null : recordOf(metadata)
  if (metadata !== null && (pairs === null || !isMetadata(pairs))) return invalid('metadata')
  return { input_file_id, endpoint, metadata: pairs as OpenAiBatchRequest['metadata'] }
}

const isMetadata = (pairs: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(pairs).length <= METADATA_MAX &&
  Object.entries(pairs).every(
    ([key, value]) =>
      key.length <= METADATA_KEY_MAX &&
      typeof value === 'string' &&
      value.length <= METADATA_VALUE_MAX,
  )

type Submission = {
  readonly request: OpenAiBatchRequest
  readonly stored: StoredFile
  readonly channel: RelayChannel
  /** The keys whose account may own the file, in the order in which they are tried. */
  readonly fileKeys: readonly RelayKey[]
  /** The key that uploads the planned lines as a new file and submits the batch. */
  readonly key: RelayKey
  readonly signal: AbortSignal
}

async function submitBody(
  deps: BatchDeps,
  arrived: Exchange,
  permitted: Permitted,
  body: Buffer,
): Promise<boolean> {
  const { caller } = permitted
  const request = readRequest(body)
  if (isRelayError(request)) return refuseWith(arrived, request)
  const keyed = await claimIdempotencyKey(deps, arrived, caller, { work: 'chat', body })
  if (keyed !== null && isRelayError(keyed)) return refuseWith(arrived, keyed)
  const exchange = keyed === null ? arrived : { ...arrived, call: keyed.call }
  const left = Math.max(1, exchange.startedAt + SUBMIT_MS - deps.now())
  const submission = await submissionOf(deps, exchange, caller, request, AbortSignal.timeout(left))
  if (isRelayError(submission)) {
    if (submission.code !== 'idempotency_replayed') await keyed?.free()
    return refuseWith(exchange, submission)
  }
  const planned = await whileReadingFile(deps, () =>
    planFile(deps, exchange, permitted, submission),
  )
  if (isRelayError(planned)) {
    await keyed?.free()
    return refuseWith(exchange, planned)
  }
  try {
    const error = await holdBatch(deps, exchange, caller, {
      ...{ api: 'openai', group: planned.group, shown: submission.request },
      channelId: submission.channel.channelId,
      ...{ parts: planned.plan.parts, lines: planned.plan.lines },
    })
    if (error === null) return await send(deps, exchange, submission, planned.file, keyed)
    // After a failure of a store, the batch may be held, so the key stays with it.
    if (error !== NO_STORE) await keyed?.free()
    return refuseWith(exchange, error)
  } finally {
    planned.release()
  }
}

function refuseWith(exchange: Exchange, error: RelayError): false {
  sendError(exchange, error)
  return false
}

/** Finds the file, and the channel and the key with which the file was uploaded. */
async function submissionOf(
  deps: BatchDeps,
  { call: subject }: Exchange,
  { user: { userId } }: Caller,
  request: OpenAiBatchRequest,
  signal: AbortSignal,
): Promise<Submission | RelayError> {
  const { batchStore, fileStore, views, now } = deps
  const id = request.input_file_id
  const missing = relayError('file_not_found', { param: 'input_file_id', subject: id.slice(0, 64) })
  try {
    const known = await batchStore.find(userId, subject)
    if (known !== undefined) return relayError('idempotency_replayed', { subject })
    const stored = isFileId(id) ? await fileStore.find(userId, id, now()) : undefined
    if (stored === undefined) return missing
    if (stored.batch !== null) return invalid('input_file_id')
    const channel = views.channels.find(stored.channelId)
    const fileKeys = keysOfSubmitted(views.channels, stored)
    const key = fileKeys.find((one) => channel?.keys.includes(one) === true)
    if (channel === undefined || key === undefined || !channel.isEnabled) {
      return relayError('no_channel', { subject: id, retryAfter: 10 })
    }
    return { request, stored, channel, fileKeys, key, signal }
  } catch {
    return NO_STORE
  }
}

/** The planned lines in a file on disk, and the hold for them. */
type PlannedFile = {
  readonly group: string
  readonly plan: FilePlan
  readonly file: SpooledFile
  readonly release: () => void
}

/**
 * Plans the lines in the first of the caller's groups that may use the channel for all of them. The
 * whole file is read for a plan, so it is planned only in groups whose limits have room: the first
 * plan shows what the lines count in any group.
 */
async function planFile(
  deps: BatchDeps,
  exchange: Exchange,
  { caller, permit }: Permitted,
  submission: Submission,
): Promise<PlannedFile | RelayError> {
  let first: RelayError | null = null
  let calls: ReturnType<typeof callsOf> | null = null
  for (const group of servingGroupsOf(caller, deps.views)) {
    const known = calls !== null
    const full = calls === null ? permit.errorIn(group) : await permit.claimBatch(group, calls)
    if (full !== null) {
      first ??= full
      continue
    }
    const planned = await planInGroup(deps, exchange, { ...caller, group }, submission)
    if (isRelayError(planned)) {
      if (known) permit.giveBackBatch()
      first ??= planned
      if (planned.code === 'overloaded' || planned.code === 'upstream_unreachable') break
      continue
    }
    calls = callsOf(planned.plan)
    const error = known ? null : await permit.claimBatch(group, calls)
    if (error === null) return planned
    planned.release()
    first ??= error
  }
  return first ?? relayError('group_not_allowed', { subject: caller.group })
}

async function planInGroup(
  deps: BatchDeps,
  { call, request }: Exchange,
  caller: Caller,
  { request: { endpoint }, stored, channel, fileKeys, signal }: Submission,
): Promise<PlannedFile | RelayError> {
  const { uploads } = deps
  const share = await bodyOwnerOf(deps, caller.user.userId, request)
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
    if (!take(stored.bytes) || !(await uploads.hasRoomFor(stored.bytes))) throw new NoRoom()
    const plan = new FilePlan(deps, channel, call, endpoint)
    const path = contentPathOf(stored.upstreamId)
    const download = { keys: fileKeys, path, headers: {} }
    const content = await openDownload(deps, download, signal)
    const sent = counted(plan.sentLines(caller, content), stored.bytes, take)
    const description = { name: 'batch.jsonl', type: 'application/jsonl' }
    const hasRoom = () => uploads.hasRoomFor(0)
    const file = await spool(sent, description, await uploads.create(), hasRoom)
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

/**
 * Passes the lines on. Reserves more space on disk if they become longer than the caller's file.
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
  if (error instanceof ResultsUnavailable && error.status === 404) {
    return relayError('file_not_found', { param: 'input_file_id', subject: file })
  }
  return relayError('upstream_unreachable')
}

/** Uploads the lines and creates the batch. Returns true if the provider accepted it. */
async function send(
  deps: BatchDeps,
  exchange: Exchange,
  { request: { endpoint }, channel, key, signal }: Submission,
  file: SpooledFile,
  keyed: KeyedCall | null,
): Promise<boolean> {
  const { batchOutbound } = deps
  const confidential = confidentialTo(channel)
  if (!(await mayBeSentTo(deps, channel.channelId))) {
    await refuse(deps, exchange.call, keyed)
    return refuseWith(exchange, relayError('no_channel', { subject: '', retryAfter: 10 }))
  }
  const uploaded = await uploadFile(deps, key, file, signal)
  if ('kind' in uploaded) {
    await refuse(deps, exchange.call, keyed)
    if (uploaded.kind === 'failed') sendFailure(deps, exchange, uploaded, confidential)
    else sendError(exchange, relayError('upstream_format'))
    return false
  }
  const content = { input_file_id: uploaded.upstreamId, endpoint, completion_window: '24h' }
  const body = Buffer.from(JSON.stringify(content))
  const { end, attemptOf } = await sendSubmission(deps, {
    ...{ channelId: channel.channelId, target: key.target, signal },
    request: { method: 'POST', path: OPENAI_BATCHES_PATH, body },
    file: { bytes: file.bytes, sha256: file.sha256 },
  })
  const description =
    end.kind === 'plain' ? OPENAI_BATCHES.readDescription(end.body, confidential) : null
  if (description !== null) {
    try {
      const { upstreamId } = description
      const place = { ...placeOf(channel), keyRef: key.keyRef, upstreamId }
      const attempt = await attemptOf(upstreamId)
      await deps.ledger.accept(exchange.call, { ...place, attempt })
      await sendAccepted(deps, exchange, description.object)
      return true
    } catch (err) {
      deps.log.error({ err, call: exchange.call }, 'an accepted batch could not be recorded')
      sendError(exchange, NO_STORE)
      return false
    }
  }
  // A batch that may exist nevertheless can't be processed without its file.
  await deleteUploaded(batchOutbound, key, uploaded.upstreamId)
  if (end.kind === 'failed') {
    if (isRefused(end)) await refuse(deps, exchange.call, keyed, await attemptOf(null))
    sendFailure(deps, exchange, end, confidential)
  } else sendError(exchange, relayError('upstream_format'))
  return false
}
