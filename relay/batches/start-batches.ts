import { setTimeout as delay } from 'node:timers/promises'
import type { Core } from '#infra/core-dependencies.ts'
import { createOutbound } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { isRelayError, relayError } from '../canonical/relay-error.ts'
import { acquirePermit } from '../pipeline/acquire-call-permit.ts'
import { authenticate, type Caller } from '../pipeline/authenticate.ts'
import { type Exchange, sendError } from '../pipeline/http-exchange.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { TASK_LIMITS } from '../tasks/send-request-to-task-provider.ts'
import { BATCHES_PATH } from './anthropic-batches.ts'
import { BatchLedger } from './batch-ledger.ts'
import { cancelBatch, deleteBatch, listBatches, sendResults, showBatch } from './look-up-batch.ts'
import { type BatchDeps, BatchSettler, type Settle } from './settle-batch.ts'
import { submitBatch } from './submit-batch.ts'

export type Batches = {
  /** Handles a request about batches. Resolves once the response is sent. */
  readonly handle: (exchange: Exchange, path: string) => Promise<void>
  readonly stop: () => Promise<void>
}

const POLL_EVERY_MS = 30_000
const LEASE = 'batch-poller'
const EMPTY = { body: Buffer.alloc(0), outputTokensMax: 0, choices: 1 }

export const isBatchPath = (path: string): boolean =>
  path === BATCHES_PATH || path.startsWith(`${BATCHES_PATH}/`)

/** Creates the handler of batches, and settles batches in the process with the poller's lease. */
export function startBatches(core: Core, deps: RelayDeps, pollEveryMs = POLL_EVERY_MS): Batches {
  const batchOutbound = createOutbound(operatorPolicy(core.config), TASK_LIMITS)
  const batchDeps: BatchDeps = { ...deps, batchOutbound, ledger: new BatchLedger(deps) }
  const settler = new BatchSettler(batchDeps)
  const stopping = new AbortController()
  const poller = core.leases.hold(LEASE, async (_lease, lost) => {
    while (!lost.aborted) {
      await settler.pass(lost).catch((err: unknown) => {
        if (!lost.aborted) core.log.warn({ err }, 'a pass over the batches failed')
      })
      await delay(pollEveryMs, undefined, { signal: lost, ref: false }).catch(() => {})
    }
  })
  const settle: Settle = (batch) => settler.advance(batch, stopping.signal)
  return {
    handle: (exchange, path) => handle(batchDeps, settle, exchange, path),
    stop: async () => {
      stopping.abort()
      await poller.stop()
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
  const route = routeOf(request.method ?? '', path)
  if (isRelayError(route)) return sendError(exchange, route)
  const caller = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(caller)) return sendError(exchange, caller)
  if (route.name === 'submit') return submitBatch(deps, exchange, caller)
  // Look-ups count towards the limits of calls, because each may send a request to a provider.
  const permit = await acquirePermit(deps, caller, EMPTY)
  if (isRelayError(permit)) return sendError(exchange, permit)
  try {
    await lookUp(deps, settle, exchange, caller, route)
  } finally {
    permit.release({ isSuccess: true, tokens: 0 })
  }
}

type Route =
  | { readonly name: 'submit' | 'list' }
  | { readonly name: 'show' | 'delete' | 'cancel' | 'results'; readonly id: string }

function lookUp(
  deps: BatchDeps,
  settle: Settle,
  exchange: Exchange,
  caller: Caller,
  route: Exclude<Route, { readonly name: 'submit' }>,
): Promise<void> {
  if (!('id' in route)) return listBatches(deps, exchange, caller)
  const { id } = route
  switch (route.name) {
    case 'show':
      return showBatch(deps, settle, exchange, caller, id)
    case 'cancel':
      return cancelBatch(deps, exchange, caller, id)
    case 'results':
      return sendResults(deps, exchange, caller, id)
    case 'delete':
      return deleteBatch(deps, exchange, caller, id)
  }
}

function routeOf(method: string, path: string): Route | ReturnType<typeof relayError> {
  const [id, action, ...rest] = path.slice(BATCHES_PATH.length + 1).split('/')
  const wrongMethod = (subject: string) => relayError('method_not_allowed', { subject })
  if (rest.length > 0) return relayError('not_found')
  if (id === undefined || id === '') {
    if (method === 'POST') return { name: 'submit' }
    return method === 'GET' ? { name: 'list' } : wrongMethod('GET, POST')
  }
  if (action === undefined) {
    if (method === 'GET') return { name: 'show', id }
    return method === 'DELETE' ? { name: 'delete', id } : wrongMethod('GET, DELETE')
  }
  if (action === 'cancel') return method === 'POST' ? { name: 'cancel', id } : wrongMethod('POST')
  if (action === 'results') return method === 'GET' ? { name: 'results', id } : wrongMethod('GET')
  return relayError('not_found')
}
