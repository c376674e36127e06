import type { TFunction } from 'i18next'
import type { LedgerItem } from '#read-api/contract/ledger.ts'
import { MOVEMENT_TYPES, type MovementType } from '#read-api/contract/ledger-movement-types.ts'

const REASON_CODES = [
  ...(['settled', 'interrupted', 'setup', 'new-user', 'invited', 'admin', 'redemption'] as const),
  ...(['stripe', 'epay'] as const),
]
const RESTORED_PREFIX = 'restored:'

/**
 * Returns the type if this console knows it, or undefined. Movements of unknown types, which a
 * newer version of the server can record, are also shown, because the running totals include them.
 */
export const asKnownType = (type: string): MovementType | undefined =>
  MOVEMENT_TYPES.find((one) => one === type)

/** Returns the name of a type of movements. The name of an unknown type includes its code. */
export function movementTypeText(t: TFunction, type: string): string {
  const known = asKnownType(type)
  return known === undefined
    ? t('audit.ledger.otherTypeOf', { type })
    : t(`audit.movement.${known}`)
}

/**
 * Returns the text for the reason of a movement (a change of an account's balance): the text that
 * an admin entered, or the translation of a reason code. An unknown code is returned unchanged. If
 * an API request gave no reason, or if the reason was erased with the user's data, the text says
 * so.
 */
export function reasonText(t: TFunction, { note, reason, ...item }: LedgerItem): string {
  if (item.is_note_erased) return t('audit.reasonErased')
  if (note !== '') return note
  if (reason === 'admin') return `${codeText(t, reason)} · ${t('audit.noReason')}`
  if (!reason.startsWith(RESTORED_PREFIX)) return codeText(t, reason)
  const provider = codeText(t, reason.slice(RESTORED_PREFIX.length))
  return t('audit.movementReason.restored', { provider })
}

function codeText(t: TFunction, reason: string): string {
  const code = REASON_CODES.find((one) => one === reason)
  return code === undefined ? reason : t(`audit.movementReason.${code}`)
}

/**
 * Returns the text for the details column: the model of the call, if any, and the reason. The
 * reason of a normal charge is left out. The text can be empty.
 */
export function detailsText(t: TFunction, item: LedgerItem): string {
  const reason = item.reason === 'settled' ? '' : reasonText(t, item)
  return [item.model, reason].filter((text) => text !== '').join(' · ')
}
