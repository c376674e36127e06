import type { TFunction } from 'i18next'
import type { LedgerItem } from '#read-api/contract/ledger.ts'

const CODES = [
  ...(['settled', 'interrupted', 'setup', 'new-user', 'invited', 'admin', 'redemption'] as const),
  ...(['stripe', 'epay'] as const),
]
const RESTORED = 'restored:'

/**
 * Returns the reason for a movement: the text of an admin, or the translation of a code. An unknown
 * code is returned unchanged. API requests can change a quota without a reason, and the returned
 * text then says so. It says something else if a reason was erased with the user's data.
 */
export function reasonText(t: TFunction, { note, reason, ...item }: LedgerItem): string {
  if (item.is_note_erased) return t('audit.reasonErased')
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

/** Returns the details of a movement: the model of a call, or the reason for any other movement. */
export function detailsOf(t: TFunction, item: LedgerItem): string {
  const reason = item.reason === 'settled' ? '' : reasonText(t, item)
  return [item.model, reason].filter((text) => text !== '').join(' · ') || '–'
}
