import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { isAuditor, useUser } from '#console/api/session.ts'
import type { Action } from '../actions/action.ts'
import { ButtonLink } from './button-link.tsx'

/** Leads to the changes of an object, such as `user:7`. */
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

/** The menu entry that leads to the changes of an object. It is only for auditors and admins. */
export function useHistoryActions(object: string): Action[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const title = t('shared.history')
  const perform = () => void navigate(historyPath(object))
  return isAuditor(useUser()) ? [{ title, icon: 'clock', perform }] : []
}

/** Codes have no state at a moment, so that their acts are in the audit log only. */
const historyPath = (object: string): string =>
  object.startsWith('redemption:')
    ? `/app/audit/log?${new URLSearchParams({ object, range: 'all' })}`
    : `/app/audit/history?${new URLSearchParams({ object })}`
