import type { TFunction } from 'i18next'
import { Link } from 'react-router-dom'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { isAdmin, isAuditor, useUser } from '#console/api/session.ts'
import type { LedgerItem } from '#read-api/contract/ledger.ts'
import { MOVEMENT_TYPES, type MovementType } from '#read-api/contract/ledger-movement-types.ts'
import type { Account } from './ledger-queries.ts'

const REASON_CODES = [
  ...(['settled', 'interrupted', 'setup', 'new-user', 'invited', 'admin', 'redemption'] as const),
  ...(['stripe', 'epay'] as const),
]
const RESTORED_PREFIX = 'restored:'

/**
 * Returns the type if this version of the console knows it, or undefined. A newer version of the
 * server can record types that this console does not know. Movements of such types are still shown,
 * because the running totals include them.
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
 * Returns the text for the reason of a movement (a change of an account's balance). This is the
 * text that an admin entered, or the translation of a reason code. An unknown code is returned
 * unchanged. If an admin gave no reason, or the reason was erased with the user's data, the text
 * says so.
 */
export function movementReasonText(t: TFunction, { note, reason, ...item }: LedgerItem): string {
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
  const reason = item.reason === 'settled' ? '' : movementReasonText(t, item)
  return [item.model, reason].filter((text) => text !== '').join(' · ')
}

type Viewer = { readonly isAdmin: boolean; readonly isAuditor: boolean; readonly userId: number }

/**
 * Shows the id of the call, order or other object that caused a movement. The id is a link if there
 * is a page about this object that the user may open.
 */
export function MovementSource({ item, account }: { item: LedgerItem; account: Account }) {
  const user = useUser()
  const viewer = {
    isAdmin: isAdmin(user),
    isAuditor: isAuditor(user),
    userId: account ?? user?.id ?? 0,
  }
  const { source } = item
  const path = source === '' ? null : pathOf(item, viewer)
  if (path === null) return <code title={source}>{source || '–'}</code>
  return (
    <Link to={path} title={source}>
      <code>{source}</code>
    </Link>
  )
}

const CODE_GRANT = /^redemption-(\d+)/

function pathOf({ type, source, reason, amount }: LedgerItem, viewer: Viewer): string | null {
  switch (type) {
    case 'call':
      return `/app/calls/${encodeURIComponent(source)}`
    case 'redemption': {
      const id = CODE_GRANT.exec(source)?.[1]
      return viewer.isAdmin && id !== undefined ? `/admin/coupons?keyword=${id}` : null
    }
    case 'order':
    case 'refund':
    case 'rebate':
      return viewer.isAdmin ? `/admin/orders?keyword=${encodeURIComponent(source)}` : null
    case 'correction':
      // The page of corrections is not available while a scratch copy (the site as of an earlier
      // time) is open.
      return viewer.isAuditor && currentScratchCopy() === null
        ? '/app/audit/reconciliation?tab=corrections'
        : null
    case 'grant':
    case 'deduction':
      return viewer.isAuditor && reason === 'admin' ? pathOfAct(viewer.userId, amount) : null
    default:
      return null
  }
}

/**
 * Returns the path of the audit log with filters for the quota that admins granted to a user or, if
 * `amount` is negative, deducted from the user.
 */
function pathOfAct(userId: number, amount: number): string {
  const act = amount < 0 ? 'quota-deducted' : 'quota-granted'
  return `/app/audit/log?${new URLSearchParams({ act, object: `user:${userId}`, range: 'all' })}`
}
