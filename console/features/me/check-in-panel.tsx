import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { errorWithMessage } from '#console/api/api-error.ts'
import { apiQuery, call } from '#console/api/client.ts'
import { selfQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { useStatus } from '#console/api/status.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { Panel } from '#console/ui/layout/panel.tsx'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import { quotaOf, quotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'

export function CheckInPanel() {
  return useStatus()?.check_in_enabled === true ? <CheckIn /> : null
}

function CheckIn() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const rule = useMoneyRule()
  const { data: status } = useQuery(checkInStatusQuery)
  const [gained, setGained] = useState<bigint | null>(null)
  const { isBusy, submit } = useSubmit(async () => {
    try {
      const quota = quotaOf((await call('POST /api/user/check_in')).quota)
      setGained(quota)
      client.setQueryData(checkInStatusQuery.queryKey, { can_check_in: false })
      const amount = quotaText(quota, rule)
      showSuccess(quota === 0n ? t('me.checkedInNoAmount') : t('me.checkedIn', { amount }))
    } catch (error) {
      showError(errorWithMessage(error, t('me.checkInFailed')))
    }
    await Promise.all([
      client.invalidateQueries({ queryKey: selfQuery.queryKey }),
      client.invalidateQueries({ queryKey: checkInStatusQuery.queryKey }),
    ])
  })
  const isOpen = status?.can_check_in === true
  return (
    <Panel
      title={t('me.checkIn')}
      lead={
        gained === null || gained === 0n
          ? t('me.checkInLead')
          : t('me.checkInAmountToday', { amount: quotaText(gained, rule) })
      }
      actions={
        <Button
          tone="primary"
          icon={status !== undefined && !isOpen ? 'check' : 'zap'}
          isBusy={isBusy}
          isDisabled={!isOpen}
          onClick={() => void submit()}
        >
          {status === undefined || isOpen ? t('me.checkInNow') : t('me.checkedInToday')}
        </Button>
      }
    />
  )
}

const checkInStatusQuery = apiQuery('GET /api/user/check_in_status')
