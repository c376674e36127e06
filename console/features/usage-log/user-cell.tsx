import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { logUserQuery } from '#console/api/usage-log-queries.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import { LabelledValues } from '#console/ui/elements/labelled-value.tsx'
import { Popover } from '#console/ui/elements/popover.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { quotaOf } from '#console/ui/quota/money.ts'
import { Quota } from '#console/ui/quota/quota.tsx'
import type { LogEntry } from '#read-api/contract/logs.ts'

type Props = { row: LogEntry; onFilter: () => void }

export function UserCell({ row, onFilter }: Props) {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const name = row.username || `#${row.user_id}`
  return (
    <Popover
      placement="bottom-start"
      isOpen={isOpen}
      onOpenChange={setOpen}
      content={<UserCard row={row} onFilter={onFilter} />}
    >
      <button
        type="button"
        className="tg-cell-button"
        tabIndex={-1}
        title={t('usageLog.user.show', { name })}
      >
        {name}
      </button>
    </Popover>
  )
}

function UserCard({ row, onFilter }: Props) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { data: user, error, refetch } = useQuery(logUserQuery(row.user_id))
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />
  const wait = <Skeleton width={60} />
  const quota = (value: number | undefined) =>
    value === undefined ? wait : <Quota value={quotaOf(value)} />
  return (
    <div className="tg-log-user">
      <h3>
        {row.username} <span className="tg-muted">#{row.user_id}</span>
      </h3>
      <LabelledValues
        className="tg-log-facts"
        values={[
          [t('shared.balance'), quota(user?.quota)],
          [t('usageLog.user.used'), quota(user?.used_quota)],
          [t('shared.requests'), user ? number.format(user.request_count) : wait],
          [t('ui.groupName'), user ? <GroupTag key="group" name={user.group} /> : wait],
        ]}
      />
      <Button size="small" icon="filter" onClick={onFilter}>
        {t('usageLog.filterByValue', { value: row.username })}
      </Button>
    </div>
  )
}
