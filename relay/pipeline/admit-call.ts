import { StoreUnavailable } from '#infra/event-store/port.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/openai-chat/chat-request.ts'
import type { Caller } from './authenticate.ts'
import { CallLedger } from './call-ledger.ts'
import type { KeyedCall } from './claim-call.ts'
import type { Watched } from './deadlines.ts'
import type { Exchange } from './http-exchange.ts'
import type { CallPlan } from './plan-call.ts'
import type { RelayDeps } from './relay-deps.ts'

const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

/**
 * Admits a call by reserving its worst-case cost on the account (the hold). Returns the call's
 * ledger, or an error if the call is refused. Once the ledger is returned, the hold is durable and
 * the call must be ended exactly once.
 */
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
    // It is unknown whether the admission was written. If the admission was written, the sweeper
    // ends the call when the call's lease expires.
    if (err instanceof StoreUnavailable) {
      warnThrottled(log, { reason: err.message, call: exchange.call }, 'calls can not be admitted')
    } else log.error({ err, call: exchange.call }, 'a call could not be admitted')
    return NO_STORE
  }
}

const LATE = Symbol('late')

/**
 * Waits for the admission. Resolves with `LATE` if the admission takes longer than `admitMs`. A
 * late admission is not canceled.
 */
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
    admitting.then(
      (value) => {
        watch.remove(watched)
        resolve(value)
      },
      (err: unknown) => {
        watch.remove(watched)
        reject(err)
      },
    )
  })
}

/**
 * Releases the hold if an admission succeeds after its caller was already refused. If the release
 * fails, the sweeper ends the call.
 */
function giveBackLate(admitting: Promise<RelayError | null>, ledger: CallLedger): void {
  const reason = 'refused' as const
  const late = { channelId: null, reason, errorCode: 'store_unavailable', statusCode: 503 }
  admitting
    .then(async (error) => {
      if (error === null) await ledger.release(late, { attempts: [], firstByteMs: null })
    })
    .catch(() => {})
}
