import { objectOf } from '#relay/canonical/json-values.ts'
import { isRelayError, notOneOf, type RelayError, relayError } from '../canonical/relay-error.ts'
import { acquirePermit, CALLS_NO_MODEL } from '../pipeline/acquire-call-permit.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { changedAccessError, currentCaller } from '../pipeline/current-caller.ts'
import { servingGroupsOf } from '../pipeline/groups-that-may-serve-call.ts'
import {
  type Exchange,
  headersOf,
  queryIn,
  sendError,
  sendJson,
} from '../pipeline/http-exchange.ts'
import { limitIn } from '../pipeline/read-page-limit.ts'
import { rejectUnreadRequest } from '../pipeline/send-error-before-body-is-read.ts'
import { chatBodyShareOf } from '../pipeline/user-share-of-body-memory.ts'
import type { FormRules } from '../uploads/form-field-types.ts'
import { type ReceivedForm, readForm } from '../uploads/read-form.ts'
import type { SpooledFile } from '../uploads/spooled-file.ts'
import { keysOfSubmitted } from '../views/submission-checks-and-key-retries.ts'
import type { BatchChannels } from './batch-channels.ts'
import type { FindShownLine } from './batch-protocol.ts'
import { sendFailure } from './conclude-submission.ts'
import { downloadError, isGone, openDownload } from './download-batch-results-from-provider.ts'
import type { StoredFile } from './file-record-store.ts'
import { type Download, endCutDownload, whileDownloading } from './limit-downloads.ts'
import {
  contentPathOf,
  isFileId,
  OPENAI_BATCHES,
  openAiIdOf,
  type ResultKind,
  renderOpenAiResult,
  rulesOfLongOpenAiResult,
} from './openai-batches.ts'
import { checkFile } from './plan-batch-file.ts'
import { readFileLifetime } from './read-file-lifetime.ts'
import { deleteAtProvider, FILE_RETENTION_MS } from './register-and-delete-batch-files.ts'
import { sendRenderedLines } from './send-results-to-caller.ts'
import type { BatchDeps } from './settle-batch.ts'
import { whileReadingFile } from './submit-batch-file.ts'
import { exceededLimitError, uploadToChannels } from './upload-and-record-file.ts'

const MIB = 1024 * 1024
const FILE_BYTES_MAX = 200 * MIB
/** The maximum number of files that one user may have. */
const FILES_MAX = 1_000
const PAGE = { usual: 10_000, most: 10_000 }
/**
 * The maximum number of files on a page. A caller who asks for more files gets a page of this
 * length.
 */
const SHOWN_MAX = 1_000
const ANCHOR = 'expires_after[anchor]'
const SECONDS = 'expires_after[seconds]'
const FORM: FormRules = {
  files: ['file'],
  numbers: [SECONDS],
  flags: [],
  texts: ['purpose'],
}
const FIELDS: ReadonlySet<string> = new Set(['file', 'purpose', ANCHOR, SECONDS])
const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

const invalid = (param: string): RelayError => relayError('invalid_parameter', { param })
const missing = (id: string): RelayError =>
  relayError('file_not_found', { subject: id.slice(0, 64) })

/**
 * Handles `POST /v1/files`. Only files for batches are accepted. Each line of such a file is one
 * request of the batch.
 */
export async function uploadBatchFile(
  deps: BatchDeps,
  exchange: Exchange,
  authenticated: Caller,
): Promise<void> {
  const { request } = exchange
  const owner = await chatBodyShareOf(deps, authenticated, request)
  if (isRelayError(owner)) return rejectUnreadRequest(exchange, owner)
  const form = await readForm(request, deps, owner, FORM)
  if (isRelayError(form)) return rejectUnreadRequest(exchange, form)
  try {
    const caller = await currentCaller(deps, authenticated, exchange)
    if (isRelayError(caller)) return sendError(exchange, caller)
    const sized = { ...CALLS_NO_MODEL, body: form.document }
    const permit = await acquirePermit(deps, caller, sized)
    if (isRelayError(permit)) return sendError(exchange, permit)
    let error: RelayError | null = NO_STORE
    try {
      error = await storeForm(deps, exchange, caller, form)
    } finally {
      permit.release({ isSuccess: error === null, tokens: 0 })
    }
    if (error !== null) sendError(exchange, error)
  } finally {
    form.release()
  }
}

type Upload = { readonly file: SpooledFile; readonly lifetimeMs: number }

function uploadIn({ document, files }: ReceivedForm): Upload | RelayError {
  const fields = JSON.parse(document.toString('utf8')) as Readonly<Record<string, unknown>>
  const other = Object.keys(fields).find((name) => !FIELDS.has(name))
  if (other !== undefined) return relayError('parameter_not_supported', { param: other })
  for (const param of ['purpose', 'file']) {
    if (fields[param] === undefined) return relayError('missing_parameter', { param })
  }
  // Files for other purposes are refused, because calls must not name files. At the provider, all
  // files belong to the site's account, so a caller could name the files of other callers. Also,
  // only the channel to which a file was uploaded can read the file.
  if (fields.purpose !== 'batch') {
    return relayError('file_purpose_not_supported', { param: 'purpose' })
  }
  const file = files.get(String(objectOf(fields.file)?.file))
  if (file === undefined) return invalid('file')
  if (file.bytes === 0) return relayError('file_without_lines', { param: 'file' })
  if (file.bytes > FILE_BYTES_MAX) {
    return relayError('request_too_large', { param: 'file', subject: `${FILE_BYTES_MAX / MIB}` })
  }
  const { [ANCHOR]: anchor, [SECONDS]: seconds } = fields
  if (anchor === undefined && seconds === undefined) return { file, lifetimeMs: FILE_RETENTION_MS }
  const lifetimeMs = readFileLifetime({ anchor, seconds }, { anchor: ANCHOR, seconds: SECONDS })
  return typeof lifetimeMs === 'number' ? { file, lifetimeMs } : lifetimeMs
}

/**
 * Checks the lines of an uploaded file and stores the file at a provider. Returns the error for the
 * caller, or null if the response was sent.
 */
async function storeForm(
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
  form: ReceivedForm,
): Promise<RelayError | null> {
  const upload = uploadIn(form)
  if (isRelayError(upload)) return upload
  const { userId } = caller.user
  const { bytes } = upload.file
  const limits = { files: FILES_MAX, bytes: deps.views.options.options.fileBytesMax }
  // The limits are checked again when the file is added. This first check saves reading the lines
  // of a file that exceeds a limit.
  const full = await exceededLimitError(deps, userId, bytes, limits)
  if (full !== null) return full
  const channels = await whileReadingFile(deps, exchange, caller, () =>
    channelsFor(deps, caller, upload.file),
  )
  if (isRelayError(channels)) return channels
  // The file may have waited for a reader, and reading it takes up to minutes.
  const changed = await changedAccessError(deps, caller, exchange)
  if (changed !== null) {
    channels.skip()
    return changed
  }
  const sent = { userId, limits, ...upload }
  const stored = await uploadToChannels(deps, exchange.call, channels, sent)
  if (!('failure' in stored)) {
    sendJson(exchange, 200, await rendered(deps, stored))
    return null
  }
  const { channel, failure } = stored
  if (isRelayError(failure)) return failure
  sendFailure(deps, exchange, failure, channel)
  return null
}

/**
 * Returns the channels to which a file can be uploaded. The caller's groups are tried in their
 * order. Returns the channels of the first group that has suitable ones. If no group has any,
 * returns the error of the first group.
 */
async function channelsFor(
  deps: BatchDeps,
  caller: Caller,
  file: SpooledFile,
): Promise<BatchChannels | RelayError> {
  let first: RelayError | null = null
  for (const group of servingGroupsOf(caller, deps.views)) {
    const channels = await checkFile(deps, { ...caller, group }, file.open())
    if (!isRelayError(channels)) return channels
    first ??= channels
  }
  return first ?? relayError('group_not_allowed', { subject: caller.group })
}

async function find(
  { fileStore, now }: BatchDeps,
  { user: { userId } }: Caller,
  id: string,
): Promise<StoredFile | null> {
  return isFileId(id) ? ((await fileStore.find(userId, id, now())) ?? null) : null
}

const kindOf = ({ file }: StoredFile): ResultKind => (file.endsWith('-error') ? 'error' : 'output')

async function rendered({ vault }: BatchDeps, stored: StoredFile): Promise<object> {
  const { file: id, bytes, createdAt, expiresAt, batch } = stored
  const seconds = (ms: number) => Math.floor(ms / 1_000)
  return {
    ...{ id, object: 'file', bytes },
    ...{ created_at: seconds(createdAt), expires_at: seconds(expiresAt) },
    filename: await fileNameOf(stored, vault),
    purpose: batch === null ? 'batch' : 'batch_output',
    ...{ status: 'processed', status_details: null },
  }
}

async function fileNameOf(stored: StoredFile, vault: BatchDeps['vault']): Promise<string> {
  const { batch, name, userId } = stored
  if (batch !== null) return `${openAiIdOf(batch)}_${kindOf(stored)}.jsonl`
  return name === null ? 'file' : ((await vault.open(userId, name)) ?? 'file')
}

export async function showFile(
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<void> {
  const stored = await find(deps, caller, id)
  if (stored === null) return sendError(exchange, missing(id))
  sendJson(exchange, 200, await rendered(deps, stored))
}

export async function listFiles(
  deps: BatchDeps,
  exchange: Exchange,
  { user: { userId } }: Caller,
): Promise<void> {
  const query = queryIn(exchange.request.url)
  const limit = limitIn(query, PAGE)
  if (typeof limit !== 'number') return sendError(exchange, limit)
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') {
    return sendError(exchange, notOneOf('order', ['asc', 'desc']))
  }
  const after = query.get('after')
  if (after !== null && !isFileId(after)) return sendError(exchange, invalid('after'))
  const purpose = query.get('purpose')
  const isOther = purpose !== null && purpose !== 'batch' && purpose !== 'batch_output'
  const isInput = purpose === null ? null : purpose === 'batch'
  const length = Math.min(limit, SHOWN_MAX)
  const page = { after, isInput, isAscending: order === 'asc', at: deps.now() }
  const found = isOther ? [] : await deps.fileStore.list(userId, { ...page, limit: length + 1 })
  const shown = found.slice(0, length)
  const data = await Promise.all(shown.map((stored) => rendered(deps, stored)))
  sendJson(exchange, 200, {
    ...{ object: 'list', data, has_more: found.length > shown.length },
    first_id: shown[0]?.file ?? null,
    last_id: shown.at(-1)?.file ?? null,
  })
}

/**
 * Deletes a file of the caller. A file with results can be deleted only once its batch is settled.
 */
export async function deleteFile(
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<void> {
  const stored = await find(deps, caller, id)
  if (stored === null || !(await isReadable(deps, stored))) return sendError(exchange, missing(id))
  if (!(await deleteAtProvider(deps, stored))) {
    return sendError(exchange, relayError('upstream_error'))
  }
  await deps.fileStore.remove(id)
  sendJson(exchange, 200, { id, object: 'file', deleted: true })
}

/**
 * Reports whether the caller may read the file now. A file that the caller uploaded may always be
 * read, and a file with results only once the batch is settled.
 */
async function isReadable(
  { batchStore }: BatchDeps,
  { batch, userId }: StoredFile,
): Promise<boolean> {
  return batch === null || (await batchStore.find(userId, batch))?.isSettled === true
}

/**
 * Sends the content of a file to the caller. In a file with results, the provider's name for the
 * model and the provider's ids are replaced by the caller's name and the gateway's ids.
 */
export async function sendFileContent(
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<void> {
  const stored = await find(deps, caller, id)
  if (stored === null) return sendError(exchange, missing(id))
  const path = contentPathOf(stored.upstreamId)
  if (stored.batch === null) {
    return whileDownloading(deps, exchange, caller, (download) =>
      sendOwnFile(deps, exchange, stored, { path, download }),
    )
  }
  const batch = await deps.batchStore.find(stored.userId, stored.batch)
  if (batch?.isSettled !== true) return sendError(exchange, missing(id))
  const render = (line: string, lineOf: FindShownLine, hidden: readonly string[]) =>
    renderOpenAiResult(line, kindOf(stored), lineOf, hidden)
  const rulesOfLong = (outline: string, lineOf: FindShownLine) =>
    rulesOfLongOpenAiResult(outline, kindOf(stored), lineOf)
  const { answerPath } = OPENAI_BATCHES
  const shown = { path, headers: {}, type: TYPE, answerPath, render, rulesOfLong }
  await sendRenderedLines(deps, exchange, { stored: batch, caller }, shown)
}

const TYPE = 'application/octet-stream'

async function sendOwnFile(
  deps: BatchDeps,
  exchange: Exchange,
  stored: StoredFile,
  { path, download }: { readonly path: string; readonly download: Download },
): Promise<void> {
  const keys = keysOfSubmitted(deps.views.channels, stored)
  if (keys.length === 0) {
    return sendError(exchange, relayError('channel_deleted', { subject: stored.file }))
  }
  const { response } = exchange
  try {
    const source = { keys, keyRef: stored.keyRef, path, headers: {} }
    const content = await openDownload(deps, source, download.signal)
    response.writeHead(200, [...headersOf(exchange), 'Content-Type', TYPE])
    for await (const chunk of content) await download.write(chunk)
    response.end()
  } catch (error) {
    const { file, channelId } = stored
    if (response.headersSent) {
      endCutDownload(deps, exchange, download.signal, { err: error, file, channelId })
    } else if (isGone(error)) sendError(exchange, missing(file))
    else sendError(exchange, downloadError(error, file))
  }
}
