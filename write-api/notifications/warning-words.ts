import { optionFlag, optionValue } from '#domain/options/registry.ts'
import { parseDecimal } from '#domain/pricing/decimal.ts'
import type { Mail } from '#infra/mail/port.ts'
import { written } from '../mail/mail-words.ts'

/** In both languages: nobody knows here which one its reader speaks. */
export function warningMail(
  site: string,
  remaining: string,
  threshold: string,
  address: string,
): Omit<Mail, 'to'> {
  const zh = `您的剩余额度为 ${remaining}，已低于提醒阈值 ${threshold}，请及时充值以免影响使用。`
  const en = `You have ${remaining} left, less than the ${threshold} you are reminded at.`
  return written({
    subject: `${site}：额度即将用尽 / Your quota is running low`,
    lines: [zh, en],
    ...(address === '' ? {} : { link: { url: `${address}/app/me`, label: '查看 / Open' } }),
    last: '每两小时至多提醒一次。 / Sent at most once in two hours.',
  })
}

const PLACES = 6

/** Quota as the site shows it: dollars with their cents and what is smaller, or units. */
export function amountText(quota: bigint, values: ReadonlyMap<string, string>): string {
  const perDollar = parseDecimal(optionValue(values, 'QuotaPerUnit'))
  if (!optionFlag(values, 'DisplayInCurrencyEnabled') || perDollar === null) return String(quota)
  const magnitude = quota < 0n ? -quota : quota
  const parts = (magnitude * 10n ** BigInt(PLACES + perDollar.scale)) / perDollar.units
  const digits = String(parts).padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0{1,4}$/, '')
  return `${quota < 0n ? '-' : ''}$${digits.slice(0, -PLACES)}.${fraction}`
}
