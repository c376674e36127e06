import { channelChecksDecider } from '#domain/channel-checks/decide.ts'
import { channelChecksStream } from '#domain/channel-checks/events.ts'
import {
  type Amount,
  amountText,
  inCurrencyOf,
} from '#domain/channel-checks/provider-balance-amount.ts'
import { parseDecimal } from '#domain/pricing/decimal.ts'
import { type ExactJson, parseJsonText } from '#domain/shared/lossless-json.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import type { Balance } from '../providers/profiles/balance-queries.ts'
import { type ProviderTarget, providerRequest } from '../providers/profiles/provider-target.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { sendGetRequest, unexpectedFormat } from './send-get-request-to-provider.ts'
import type { ChannelCheckDeps } from './wait-until-views-are-current.ts'

type BalanceResult =
  | { readonly isRead: true; readonly balance: string; readonly position: number }
  | { readonly isRead: false; readonly why: TranslatedText }

const TEXT_MAX = 64 * 1024

const NO_RATE: TranslatedText = {
  zh: '请先设置汇率（Price）',
  en: 'set the exchange rate first (Price)',
}

/** Reports whether the provider of a channel reports the balance of an account. */
export const hasBalance = ({ target }: RelayChannel): boolean =>
  target?.profile.balance !== undefined

/**
 * Requests the remaining balance from a channel's provider and records it in US dollars. Returns
 * the reason if the balance can't be read or converted.
 */
export async function readBalance(
  deps: ChannelCheckDeps,
  { channelId }: RelayChannel,
  target: ProviderTarget,
  context: Omit<CommandContext, 'at'>,
  signal?: AbortSignal,
): Promise<BalanceResult> {
  const reported = await requestBalance(deps, target, signal)
  if ('why' in reported) return { isRead: false, ...reported }
  const dollars = inDollars(reported, deps.views.options.options.yuanPerDollar)
  if (dollars === null) return { isRead: false, why: NO_RATE }
  const balance = amountText(dollars)
  const outcome = await deps.actors.handle(
    channelChecksDecider,
    channelChecksStream(channelId),
    { type: 'RecordBalance', channelId, balance },
    { ...context, at: deps.now() },
  )
  if (!outcome.isDone) throw new Error('the event of a balance was refused')
  return { isRead: true, balance, position: outcome.position }
}

async function requestBalance(
  { providerOutbound, now }: ChannelCheckDeps,
  target: ProviderTarget,
  signal: AbortSignal | undefined,
): Promise<Balance | { readonly why: TranslatedText }> {
  const query = target.profile.balance
  if (query === undefined) throw new Error(`type ${target.profile.id} does not report a balance`)
  const answers: ExactJson[] = []
  const { keyHeader } = query
  for (;;) {
    const path = query.pathAfter(answers, now())
    if (path === null) break
    const request = providerRequest(target, path, { isUnversioned: true, keyHeader })
    const reply = await sendGetRequest(providerOutbound.via(target.proxy), request, signal)
    if (!reply.isAnswered) return { why: reply.why }
    const parsed = reply.text.length > TEXT_MAX ? null : parseJsonText(reply.text)
    if (parsed === null || 'error' in parsed) return { why: unexpectedFormat() }
    answers.push(parsed.value)
  }
  return query.read(answers, target.address.href) ?? { why: unexpectedFormat() }
}

function inDollars({ amount, currency }: Balance, yuanPerDollar: string): Amount | null {
  if (currency === 'USD') return amount
  const rate = parseDecimal(yuanPerDollar)
  return rate === null ? null : inCurrencyOf(amount, rate)
}
