import { StoreUnavailable } from '#infra/event-store/port.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/openai-chat/chat-request.ts'
import type { Caller } from './authenticate.ts'
import { CallLedger } from './call-ledger.ts'
import type { KeyedCall } from './claim-call.ts'
import type { Watched } from './deadlines.ts'
import type { Exchange } from './exchange.ts'
import type { CallPlan } from './plan-call.ts'
import type { RelayDeps } from './relay-deps.ts'

const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

/** The ledger of a call whose hold is durable: from here on it must be ended once. */
export async function admit(
  { actors, now, vault, deadlines, log, watch }: RelayDeps,
  exchange: Exchange,
  caller: Caller,
  request: ChatRequest,
  { price, terms: { hold, reduction } }: CallPlan,
  keyed: KeyedCall | null,
): Promise<CallLedger | RelayError> {
  const ledger = new CallLedger(actors, caller, exchange, now, keyed)
  const { userId, settings } = caller.user
  const { reasoningEffort } = request
  try {
    const clientIp = settings.showIpInLogs ? await vault.seal(userId, exchange.clientIp) : null
    const admitting = ledger.admit({
      model: request.model,
      isStream: request.isStream,
      hold,
      ...(reduction === null ? {} : { reduction }),
      price,
      calls: request.choices,
      ...(reasoningEffort === null ? {} : { reasoningEffort }),
      leaseMs: deadlines.leaseMs,
      clientIp,
    })
    const error = await inTime(admitting, { watch, deadlines })
    if (error !== LATE) return error ?? ledger
    giveBackLate(admitting, ledger)
    warnThrottled(log, { call: exchange.call }, 'the event store is too slow to admit calls')
    return NO_STORE
  } catch (err) {
    // Unknown whether it was written: if it was, the sweeper ends the call when its lease is over.
    if (err instanceof StoreUnavailable) {
      warnThrottled(log, { reason: err.message, call: exchange.call }, 'calls can not be admitted')
    } else log.error({ err, call: exchange.call }, 'a call could not be admitted')
    return NO_STORE
  }
}

const LATE = Symbol('late')

/** `LATE` after `admitMs`: what is under way goes on. */
function inTime<T>(
  admitting: Promise<T>,
  { watch, deadlines }: Pick<RelayDeps, 'watch' | 'deadlines'>,
): Promise<T | typeof LATE> {
  const lateAt = performance.now() + deadlines.admitMs
  return new Promise((resolve, reject) => {
    const watched: Watched = {
      watch: (at) => {
        if (at > lateAt) resolve(LATE)
        return at <= lateAt
      },
    }
    watch.add(watched)
    admitting.then(resolve, reject).finally(() => watch.remove(watched))
  })
}

/** Its caller was refused: a hold that still comes is given back, here or by the sweeper. */
function giveBackLate(admitting: Promise<RelayError | null>, ledger: CallLedger): void {
  const reason = 'refused' as const
  const late = { channelId: null, reason, errorCode: 'store_unavailable', statusCode: 503 }
  admitting
    .then(async (error) => {
      if (error === null) await ledger.release(late, { attempts: [], firstByteMs: null })
    })
    .catch(() => {})
}
