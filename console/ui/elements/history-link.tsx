import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { isAuditor, useUser } from '#console/api/session.ts'
import type { Action } from '../actions/action-registry.ts'
import { ButtonLink } from './button-link.tsx'

/** A link to the changes of an object. `object` is its kind and id, such as `user:7`. */
export function HistoryLink({ object }: { object: string }) {
  const { t } = useTranslation()
  return (
    <span>
      <ButtonLink icon="clock" to={historyPath(object)}>
        {t('shared.history')}
      </ButtonLink>
    </span>
  )
}

/**
 * Returns a list with the menu entry that opens the changes of an object. The list is empty for
 * users who are neither auditors nor admins.
 */
export function useHistoryActions(object: string): Action[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const title = t('shared.history')
  const perform = () => void navigate(historyPath(object))
  return isAuditor(useUser()) ? [{ title, icon: 'clock', perform }] : []
}

/**
 * The kinds of objects that have no page in the history. Their changes are listed in the audit log.
 */
const KINDS_WITHOUT_STATE: readonly string[] = ['invoice', 'message', 'order', 'redemption']

/** Returns the path of the page with the changes of an object. */
const historyPath = (object: string): string =>
  KINDS_WITHOUT_STATE.includes(object.split(':')[0] ?? '')
    ? `/app/audit/log?${new URLSearchParams({ object, range: 'all' })}`
    : `/app/audit/history?${new URLSearchParams({ object })}`
