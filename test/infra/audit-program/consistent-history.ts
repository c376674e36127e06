import { randomUUID } from 'node:crypto'
import type { AccountCommand } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { type Attempt, accountStream } from '#domain/accounts/events.ts'
import type { AccountState } from '#domain/accounts/state.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import { isCodedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import type { NewEvent, StreamAppend } from '#infra/event-store/port.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'

const PRICE = perTokenPrice({ completion: '4' })
const ATTEMPT = { channelId: 5, status: 200, error: null, latencyMs: 30 }

type Account = { readonly userId: number; state: AccountState }

/**
 * Yields appends of a history in which every rule holds: grants, and calls that are admitted and
 * settled, one call each `stepMs`. Each append has about 500 events.
 */
export function* consistentHistory(
  events: number,
  accounts = 40,
  stepMs = 10,
): Generator<StreamAppend[]> {
  const all = Array.from({ length: accounts }, (_, index) => ({
    ...{ userId: index + 1, state: accountDecider.initialState() },
  }))
  let now = Date.UTC(2026, 0, 1)
  let written = 0
  let round = 0
  while (written < events) {
    const appends = new Map<string, NewEvent[]>()
    let size = 0
    while (size < 500 && written + size < events) {
      const account = all[round % accounts] as Account
      now += stepMs
      const facts = decided(account, commandsOf(account.userId, round, now, round < accounts), now)
      const stream = accountStream(account.userId)
      appends.set(stream, [...(appends.get(stream) ?? []), ...facts])
      size += facts.length
      round += 1
    }
    written += size
    yield [...appends].map(([stream, own]) => ({ stream, expected: 'any', events: own }))
  }
}

function commandsOf(userId: number, round: number, at: number, isFirst: boolean): AccountCommand[] {
  if (isFirst) {
    return [
      { type: 'GrantQuota', userId, grantId: 'first', amount: 10n ** 12n, reason: 'admin' },
      { type: 'SetTokenBudget', userId, tokenId: userId, remain: 0n, isUnlimited: true },
    ]
  }
  const call = `019ab0de-2c00-7000-8000-${String(round).padStart(12, '0')}`
  return callCommands({
    ...{ call, userId, tokenId: userId, model: `model-${round % 7}`, at, attempt: ATTEMPT },
    ...{ inputTokens: 100 + (round % 50), clientIp: null },
  })
}

export type PastCall = {
  readonly call: string
  readonly userId: number
  readonly tokenId: number
  readonly model: string
  readonly at: number
  readonly attempt: Attempt
  readonly inputTokens: number
  readonly clientIp: Sealed | null
}

/** Returns the commands that admit and settle a call that succeeded at its first attempt. */
export function callCommands(past: PastCall): [AccountCommand, AccountCommand] {
  const { call, userId, tokenId, model, at, attempt, inputTokens, clientIp } = past
  const { channelId } = attempt
  return [
    {
      ...{ type: 'AdmitCall', call, userId, tokenId, model, group: 'default', isStream: true },
      ...{ hold: 5_000n, price: PRICE, leaseUntil: at + 60_000, clientIp, startedAt: at },
    },
    {
      ...{ type: 'SettleCall', call, channelId, upstreamModel: null, usageSource: 'upstream' },
      usage: { ...NO_USAGE, inputUncached: inputTokens, output: 20 },
      ...{ anomaly: null, end: 'done', attempts: [attempt] },
      timings: { startedAt: at, firstByteMs: 20, durationMs: 90 },
    },
  ]
}

function decided(account: Account, commands: readonly AccountCommand[], at: number): NewEvent[] {
  const meta = { actor: `token:${account.userId}`, cause: null, at }
  return commands.flatMap((command) => {
    const outcome = accountDecider.decide(command, account.state)
    if (isCodedError(outcome)) throw new Error(outcome.code)
    return outcome.map((fact) => {
      account.state = accountDecider.evolve(account.state, fact)
      return { ...fact, id: randomUUID(), meta }
    })
  })
}
