import { Link } from 'react-router-dom'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { isAdmin, isAuditor, useUser } from '#console/api/session.ts'
import type { LedgerItem } from '#read-api/contract/ledger.ts'
import type { Account } from './ledger-queries.ts'

type Viewer = { readonly isAdmin: boolean; readonly isAuditor: boolean; readonly userId: number }

/**
 * Shows the id of the call, order or other object that caused a movement. The id is a link if the
 * user may open the page of this object.
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

/** Returns the path of the audit log, filtered by changes of a user's quota by admins. */
function pathOfAct(userId: number, amount: number): string {
  const act = amount < 0 ? 'quota-deducted' : 'quota-granted'
  return `/app/audit/log?${new URLSearchParams({ act, object: `user:${userId}`, range: 'all' })}`
}
