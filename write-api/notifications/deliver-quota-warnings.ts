import { setTimeout as delay } from 'node:timers/promises'
import { optionFlag, optionValue } from '#domain/options/option-registry.ts'
import { parseDecimal } from '#domain/pricing/decimal.ts'
import { toWire } from '#domain/shared/quota.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { Mail, Mailer } from '#infra/mail/port.ts'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import { reasonOf, warnThrottled } from '#infra/telemetry/log.ts'
import type { AccountToWarn } from '#projections/notifications/query.ts'
import { renderMail } from '../mail/mail-templates.ts'
import { siteNameOf } from '../mail/site-mailer-and-test-mail.ts'
import { sendWebhook } from './send-webhook.ts'

/**
 * Returns the mail that warns a user of low quota. The text is in Chinese and English, because the
 * user's language is unknown.
 */
function warningMail(
  site: string,
  remaining: string,
  threshold: string,
  address: string,
): Omit<Mail, 'to'> {
  const zh = `您的剩余额度为 ${remaining}，已低于提醒阈值 ${threshold}，请及时充值以免影响使用。`
  const en = `Your remaining quota is ${remaining}, below your reminder threshold of ${threshold}.`
  return renderMail({
    subject: `${site}：额度即将用尽 / Your quota is running low`,
    lines: [zh, en],
    ...(address === '' ? {} : { link: { url: `${address}/app/me`, label: '查看 / Open' } }),
    last: '每两小时至多提醒一次。 / Sent at most once every two hours.',
  })
}

const DECIMALS = 6

/**
 * Formats quota as the site displays it: in dollars with two to six decimal places, or in quota
 * units.
 */
function amountText(quota: bigint, values: ReadonlyMap<string, string>): string {
  const perDollar = parseDecimal(optionValue(values, 'QuotaPerUnit'))
  if (!optionFlag(values, 'DisplayInCurrencyEnabled') || perDollar === null) return String(quota)
  const magnitude = quota < 0n ? -quota : quota
  const parts = (magnitude * 10n ** BigInt(DECIMALS + perDollar.scale)) / perDollar.units
  const digits = String(parts).padStart(DECIMALS + 1, '0')
  const fraction = digits.slice(-DECIMALS).replace(/0{1,4}$/, '')
  return `${quota < 0n ? '-' : ''}$${digits.slice(0, -DECIMALS)}.${fraction}`
}

export type WarningTransports = {
  readonly mailer: Mailer
  readonly outbound: Pick<Outbound, 'dispatcher'>
}

const CONCURRENT_MAX = 16
const SETTLE_WAIT_MS_MAX = 5_000

/**
 * Delivers warnings in the background, up to 16 at the same time, so that slow deliveries do not
 * delay the reading of events. Failed deliveries are logged.
 */
export function createDeliveries(core: Core, transports: WarningTransports, stop: AbortSignal) {
  const running = new Set<Promise<void>>()
  return {
    start: async (account: AccountToWarn, eventId: string, values: ReadonlyMap<string, string>) => {
      while (running.size >= CONCURRENT_MAX) await Promise.race(running)
      const { userId, means } = account
      const sending = deliver(core, transports, { account, eventId, values, stop })
        .catch((error: unknown) => {
          const details = { userId, means, reason: reasonOf(error) }
          warnThrottled(core.log, details, 'delivering a quota warning failed')
        })
        .finally(() => running.delete(sending))
      running.add(sending)
    },
    /** Waits until all current deliveries have ended, but at most five seconds. */
    settled: async (): Promise<void> => {
      const timeout = new AbortController()
      const { signal } = timeout
      const timedOut = delay(SETTLE_WAIT_MS_MAX, undefined, { signal, ref: false }).catch(() => {})
      await Promise.race([Promise.allSettled(running), timedOut])
      timeout.abort()
    },
  }
}

type Warning = {
  readonly account: AccountToWarn
  readonly eventId: string
  readonly values: ReadonlyMap<string, string>
  readonly stop: AbortSignal
}

async function deliver(core: Core, transports: WarningTransports, warning: Warning): Promise<void> {
  const { account, values } = warning
  if (account.means === 'webhook') return deliverWebhook(core, transports, warning)
  const address = optionValue(values, 'ServerAddress').replace(/\/$/, '')
  const [remaining, threshold] = [account.remaining, account.threshold]
  const texts = [amountText(remaining, values), amountText(threshold, values)] as const
  await transports.mailer.send({
    to: account.mailTo,
    ...warningMail(siteNameOf(values), ...texts, address),
  })
}

async function deliverWebhook(
  { vault, now }: Core,
  { outbound }: WarningTransports,
  { account, eventId, stop }: Warning,
): Promise<void> {
  const { userId, webhookUrl: url, webhookSecretRef: ref, remaining, threshold } = account
  const secret = ref === null ? null : await vault.getSecret('webhook', `user:${userId}`, ref)
  const body = {
    id: eventId,
    type: 'quota_warning',
    created_at: Math.floor(now() / 1_000),
    user_id: userId,
    remaining_quota: toWire(remaining),
    threshold_quota: toWire(threshold),
  }
  const isAccepted = await sendWebhook(outbound, { url, secret, eventId, body }, { now, stop })
  if (!isAccepted) throw new Error('the webhook did not accept the warning')
}
