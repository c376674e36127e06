import type { TaskRecord } from '#domain/tasks/decide.ts'
import { keysOfSubmitted, sendWithKeys } from '#relay/views/submission-checks-and-key-retries.ts'
import type { ExpiredFile } from './look-up-expired-file-addresses.ts'
import {
  FAILED,
  type FileAddress,
  type FileOutcome,
  GONE,
  type OpenOptions,
  openProviderFile,
} from './open-provider-file.ts'
import { parsedShallowObject } from './parse-provider-json.ts'
import { reportsIn, STATUS_PATHS } from './read-provider-task-answers.ts'
import { videosIn } from './render-task-json.ts'
import { sendTaskRequest } from './send-request-to-task-provider.ts'
import type { TaskDeps } from './task-deps.ts'

/** The file of a drawing task: its picture if `videoIndex` is null, or one of its videos. */
export type DrawingFile = {
  readonly record: TaskRecord
  readonly videoIndex: number | null
  readonly address: FileAddress
}

/** The maximum time in milliseconds to ask a provider for the new address of a file. */
const LOOKUP_MS = 10_000

/** Returns the file of a drawing task, or null if the task has no such file. */
export async function drawingFileOf(
  { vault, views }: Pick<TaskDeps, 'vault' | 'views'>,
  record: TaskRecord,
  videoIndex: number | null,
): Promise<DrawingFile | null> {
  const { submitted, end } = record
  if (submitted.kind !== 'drawing' || end === null || !('imageUrl' in end)) return null
  const { imageUrl, result } = end
  const open = async (sealed: typeof imageUrl) =>
    sealed === null ? null : vault.open(submitted.userId, sealed)
  const url =
    videoIndex === null ? await open(imageUrl) : videoAddress(await open(result), videoIndex)
  if (url === null) return null
  const { target } = views.channels.find(end.channelId) ?? {}
  const { origin = null, proxy = null } = target ?? {}
  const address = { url, keyHeaders: {}, isKeyDoubtful: false, origin, proxy }
  return { record, videoIndex, address }
}

const videoAddress = (result: string | null, index: number): string | null =>
  videosIn(parsedShallowObject(Buffer.from(result ?? '')))[index] ?? null

/**
 * Opens the file of a drawing task. The address of a picture often expires after a day. If the
 * address no longer has the file, the provider is asked for the task once more, because its answer
 * may have a new address. See `FileAddressLookups` for the limits.
 */
export async function openDrawingFile(
  deps: TaskDeps,
  file: DrawingFile,
  options: OpenOptions,
): Promise<FileOutcome> {
  const { address, record, videoIndex } = file
  const opened = await openProviderFile(deps, address, options)
  if (opened.kind !== 'gone') return opened
  const { userId, task } = record.submitted
  const expired: ExpiredFile = { userId, name: `${task} ${videoIndex}`, old: address.url }
  const fresh = await deps.fileLookups.find(expired, () => askForAddress(deps, file))
  if (typeof fresh !== 'string') return fresh
  const outcome = await openProviderFile(deps, { ...address, url: fresh }, options)
  if (outcome.kind === 'gone') deps.fileLookups.forget(expired)
  return outcome
}

async function askForAddress(
  deps: TaskDeps,
  { record: { place }, videoIndex }: DrawingFile,
): Promise<string | FileOutcome> {
  if (place === null) return GONE
  const body = Buffer.from(JSON.stringify({ ids: [place.upstreamId] }))
  const question = { method: 'POST', path: STATUS_PATHS.drawing, body } as const
  const signal = AbortSignal.timeout(LOOKUP_MS)
  const end = await sendWithKeys(keysOfSubmitted(deps.views.channels, place), ({ target }) =>
    sendTaskRequest(deps.providerOutbound, target, question, signal),
  )
  if (end === null) return GONE
  const reports = end.kind === 'plain' ? reportsIn('drawing', end.body) : null
  if (reports === null) return FAILED
  const report = reports.find(({ upstreamId }) => upstreamId === place.upstreamId)
  if (report === undefined) return GONE
  const { imageUrl, result } = report
  return (videoIndex === null ? imageUrl : videoAddress(result, videoIndex)) ?? GONE
}
