import { setTimeout as delay } from 'node:timers/promises'
import type { Core } from '#infra/core-dependencies.ts'
import { createOutbound } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { isRelayError, relayError } from '../canonical/relay-error.ts'
import { geminiBatchPath, modelOfBatch } from '../gemini-paths.ts'
import { acquirePermit, CALLS_NO_MODEL } from '../pipeline/acquire-call-permit.ts'
import { authenticate, type Caller } from '../pipeline/authenticate.ts'
import { type Exchange, sendError } from '../pipeline/http-exchange.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { TASK_LIMITS } from '../tasks/send-request-to-task-provider.ts'
import { BATCHES_PATH } from './anthropic-batches.ts'
import { ANTHROPIC_INLINE, geminiInline } from './batch-apis-with-inline-requests.ts'
import { BatchLedger } from './batch-ledger.ts'
import { GEMINI_BATCHES_PATH } from './gemini-batches.ts'
import {
  deleteFile,
  listFiles,
  sendFileContent,
  showFile,
  uploadBatchFile,
} from './handle-file-requests.ts'
import { FILES_PATH, OPENAI_BATCHES_PATH } from './openai-batches.ts'
import { deleteExpiredFiles, expireFilesOfErasedUsers } from './register-and-delete-batch-files.ts'
import { sendResults } from './send-results-to-caller.ts'
import { type BatchDeps, BatchSettler, type Settle } from './settle-batch.ts'
import {
  cancelGeminiBatch,
  listGeminiBatches,
  showGeminiBatch,
} from './show-list-and-cancel-gemini-batches.ts'
import {
  type BatchHandler,
  batchNotFound,
  cancelBatch,
  deleteBatch,
  findBatch,
  listBatches,
  listOpenAiBatches,
  showBatch,
} from './show-list-cancel-and-delete-batches.ts'
import { submitBatch } from './submit-batch.ts'
import { submitBatchFile } from './submit-batch-file.ts'

export type Batches = {
  /** Handles a request about batches. Resolves once the response is sent. */
  readonly handle: (exchange: Exchange, path: string) => Promise<void>
  readonly stop: () => Promise<void>
}

const POLL_EVERY_MS = 30_000
/** Files of erased users are searched in one of this number of passes over expired files. */
const PASSES_PER_SEARCH = 20
const LEASE = 'batch-poller'
const NOT_FOUND = relayError('not_found')

const ROOTS = [BATCHES_PATH, OPENAI_BATCHES_PATH, FILES_PATH, GEMINI_BATCHES_PATH] as const

export const isBatchPath = (path: string): boolean =>
  modelOfBatch(path) !== null || ROOTS.some((root) => path === root || path.startsWith(`${root}/`))

export type BatchOverrides = {
  readonly batchPollEveryMs?: number
  /**
   * The time after which the poller goes on to the next batch while a slow one is still being
   * settled.
   */
  readonly batchSlowMs?: number
}

/**
 * Creates the handler of requests about batches. Also starts the poller, which settles batches that
 * have ended. Only the process that holds the poller's lease polls.
 */
export function startBatches(
  core: Core,
  deps: RelayDeps,
  { batchPollEveryMs = POLL_EVERY_MS, batchSlowMs }: BatchOverrides = {},
): Batches {
  const batchOutbound = createOutbound(operatorPolicy(core.config), TASK_LIMITS)
  const batchDeps: BatchDeps = { ...deps, batchOutbound, ledger: new BatchLedger(deps) }
  const settler = new BatchSettler(batchDeps, batchSlowMs)
  const stopping = new AbortController()
  const pause = (lost: AbortSignal) =>
    delay(batchPollEveryMs, undefined, { signal: lost, ref: false }).catch(() => {})
  const poller = core.leases.hold(LEASE, async (_lease, lost) => {
    const settling = async (): Promise<void> => {
      while (!lost.aborted) {
        await settler.pass(lost).catch((err: unknown) => {
          if (!lost.aborted) core.log.warn({ err }, 'a pass over the batches failed')
        })
        await pause(lost)
      }
    }
    // Deletions run separately, because a provider that does not answer can delay them for minutes.
    // The settlements must not wait for them.
    const deleting = async (): Promise<void> => {
      for (let pass = 0; !lost.aborted; pass += 1) {
        if (pass % PASSES_PER_SEARCH === 0) {
          await expireFilesOfErasedUsers(batchDeps).catch((err: unknown) => {
            if (!lost.aborted) core.log.warn({ err }, 'files of erased users were not found')
          })
        }
        await deleteExpiredFiles(batchDeps, lost).catch((err: unknown) => {
          if (!lost.aborted) core.log.warn({ err }, 'expired files could not be deleted')
        })
        await pause(lost)
      }
    }
    await Promise.all([settling(), deleting()])
  })
  const settle: Settle = (batch) => settler.advance(batch, stopping.signal)
  return {
    handle: (exchange, path) => handle(batchDeps, settle, exchange, path),
    stop: async () => {
      stopping.abort()
      await poller.stop()
      await settler.idle()
      await batchOutbound.close()
    },
  }
}

async function handle(
  deps: BatchDeps,
  settle: Settle,
  exchange: Exchange,
  path: string,
): Promise<void> {
  const { request, clientIp, startedAt } = exchange
  const route = routeOf(request.method ?? '', geminiBatchPath(request) ?? path)
  if (isRelayError(route)) return sendError(exchange, route)
  // Anthropic's Files API has the same path, but its files are not for batches.
  const isAnthropic = request.headers['anthropic-version'] !== undefined
  if (isAnthropic && path.startsWith(FILES_PATH)) return sendError(exchange, NOT_FOUND)
  const caller = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(caller)) return sendError(exchange, caller)
  if (route.submit !== undefined) return route.submit(deps, exchange, caller)
  // Look-ups count towards the caller's limits of calls, because each may send a request to a
  // provider.
  const permit = await acquirePermit(deps, caller, CALLS_NO_MODEL)
  if (isRelayError(permit)) return sendError(exchange, permit)
  try {
    await route.lookUp(deps, exchange, caller, settle)
  } finally {
    permit.release({ isSuccess: true, tokens: 0 })
  }
}

type Submit = (deps: BatchDeps, exchange: Exchange, caller: Caller) => Promise<void>
type LookUp = (deps: BatchDeps, exchange: Exchange, caller: Caller, settle: Settle) => Promise<void>
type Route =
  | { readonly submit: Submit; readonly lookUp?: undefined }
  | { readonly submit?: undefined; readonly lookUp: LookUp }

/**
 * The handlers of requests about one batch or file. The outer key is the last segment of the path,
 * which is empty for a request about the object itself. The inner key is the HTTP method.
 */
type ObjectRoutes = Readonly<Record<string, Readonly<Record<string, LookUpOf>>>>
type LookUpOf = (
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
  id: string,
  settle: Settle,
) => Promise<void>

/** Returns the function that looks up the batch with a public id and handles a request about it. */
const ofBatch =
  (handler: BatchHandler): LookUpOf =>
  async (deps, exchange, caller, id, settle) => {
    const stored = await findBatch(deps, caller, id)
    if (stored === null) return sendError(exchange, batchNotFound(id))
    await handler(deps, exchange, stored, settle, caller)
  }

const ROUTES: Readonly<
  Record<
    (typeof ROOTS)[number],
    { readonly submit?: Submit; readonly list: LookUp; readonly objects: ObjectRoutes }
  >
> = {
  [BATCHES_PATH]: {
    submit: (deps, exchange, caller) => submitBatch(deps, exchange, caller, ANTHROPIC_INLINE),
    list: listBatches,
    objects: {
      '': { GET: ofBatch(showBatch), DELETE: ofBatch(deleteBatch) },
      cancel: { POST: ofBatch(cancelBatch) },
      results: { GET: ofBatch(sendResults) },
    },
  },
  [OPENAI_BATCHES_PATH]: {
    submit: submitBatchFile,
    list: listOpenAiBatches,
    objects: { '': { GET: ofBatch(showBatch) }, cancel: { POST: ofBatch(cancelBatch) } },
  },
  [GEMINI_BATCHES_PATH]: {
    list: listGeminiBatches,
    objects: {
      '': { GET: ofBatch(showGeminiBatch), DELETE: ofBatch(deleteBatch) },
      cancel: { POST: ofBatch(cancelGeminiBatch) },
    },
  },
  [FILES_PATH]: {
    submit: uploadBatchFile,
    list: listFiles,
    objects: { '': { GET: showFile, DELETE: deleteFile }, content: { GET: sendFileContent } },
  },
}

function routeOf(method: string, path: string): Route | ReturnType<typeof relayError> {
  const wrongMethod = (subject: string) => relayError('method_not_allowed', { subject })
  const model = modelOfBatch(path)
  if (model !== null) {
    if (method !== 'POST') return wrongMethod('POST')
    const api = geminiInline(model)
    return { submit: (deps, exchange, caller) => submitBatch(deps, exchange, caller, api) }
  }
  const root = ROOTS.find((one) => path === one || path.startsWith(`${one}/`)) ?? BATCHES_PATH
  const { submit, list, objects } = ROUTES[root]
  // Gemini's API separates the action from the id by a colon.
  const separator = root === GEMINI_BATCHES_PATH ? ':' : '/'
  const [id = '', action = '', ...rest] = path.slice(root.length + 1).split(separator)
  if (rest.length > 0) return relayError('not_found')
  if (id === '') {
    if (method === 'POST' && submit !== undefined) return { submit }
    const methods = submit === undefined ? 'GET' : 'GET, POST'
    return method === 'GET' ? { lookUp: list } : wrongMethod(methods)
  }
  const methods = Object.entries(objects).find(([name]) => name === action)?.[1]
  if (methods === undefined) return relayError('not_found')
  const lookUp = Object.entries(methods).find(([name]) => name === method)?.[1]
  if (lookUp === undefined) return wrongMethod(Object.keys(methods).join(', '))
  return {
    lookUp: (deps, exchange, caller, settle) => lookUp(deps, exchange, caller, id, settle),
  }
}
