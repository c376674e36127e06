import type { TFunction } from 'i18next'
import type { LedgerItem } from '#read-api/contract/ledger.ts'

const CODES = [
  ...(['settled', 'interrupted', 'setup', 'new-user', 'invited', 'admin', 'redemption'] as const),
  ...(['stripe', 'epay'] as const),
]
const RESTORED = 'restored:'

/**
 * The reason that an admin wrote, or the translated code. An unknown code stays as it is. Requests
 * of the API may change a quota without a reason, and the text then says so.
 */
export function reasonText(t: TFunction, { note, reason }: LedgerItem): string {
  if (note !== '') return note
  if (reason === 'admin') return `${codeText(t, reason)} · ${t('audit.noReason')}`
  if (!reason.startsWith(RESTORED)) return codeText(t, reason)
  const provider = codeText(t, reason.slice(RESTORED.length))
  return t('audit.movementReason.restored', { provider })
}

function codeText(t: TFunction, reason: string): string {
  const code = CODES.find((one) => one === reason)
  return code === undefined ? reason : t(`audit.movementReason.${code}`)
}

/** The model of a call, or the reason of another movement. Most calls are settled. */
export function detailsOf(t: TFunction, item: LedgerItem): string {
  const reason = item.reason === 'settled' ? '' : reasonText(t, item)
  return [item.model, reason].filter((text) => text !== '').join(' · ') || '–'
}
