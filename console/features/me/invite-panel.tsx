import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { useStatus } from '#console/api/status.ts'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton } from '#console/ui/elements/copy-button.tsx'
import { copyText } from '#console/ui/elements/copy-text.ts'
import { LabelledValue } from '#console/ui/elements/labelled-value.tsx'
import { ErrorState } from '#console/ui/layout/empty-state.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { Quota, useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { MePanelProps } from './me-panel-types.ts'
import { minimumTransfer, TransferRewardsDialog } from './transfer-rewards-dialog.tsx'

export function InvitePanel({ user }: MePanelProps) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const isOffered = useStatus()?.aff_enabled === true
  const [isOpen, setOpen] = useState(false)
  const rule = useMoneyRule()
  const earned = quotaOf(user?.aff_quota ?? 0)
  const min = minimumTransfer(rule)
  const isTooLittle = earned < min
  const whyId = useId()
  // Rewards that were earned stay visible after the site has disabled invitations.
  if (!isOffered && earned === 0n) return null
  return (
    <Panel title={t('me.invites')} lead={t('me.invitesLead')}>
      {isOffered && <InviteLink />}
      <div className="tg-me-invites">
        <dl className="tg-me-figures">
          <LabelledValue className="tg-number" name={t('me.invited')}>
            {number.format(user?.aff_count ?? 0)}
          </LabelledValue>
          <LabelledValue className="tg-number" name={t('me.totalRewards')}>
            <Quota value={quotaOf(user?.aff_history_quota ?? 0)} />
          </LabelledValue>
          <LabelledValue className="tg-number" name={t('me.availableRewards')}>
            <Quota value={earned} />
          </LabelledValue>
        </dl>
        <div className="tg-me-transfer">
          <Button
            icon="arrowRight"
            isDisabled={isTooLittle}
            describedBy={isTooLittle ? whyId : undefined}
            onClick={() => setOpen(true)}
          >
            {t('me.transfer')}
          </Button>
          {isTooLittle && (
            <p id={whyId} className="tg-hint">
              {t('me.transferFrom', { min: exactQuotaText(min, rule) })}
            </p>
          )}
        </div>
      </div>
      <TransferRewardsDialog isOpen={isOpen} earned={earned} onClose={() => setOpen(false)} />
    </Panel>
  )
}

function InviteLink() {
  const { t } = useTranslation()
  const code = useQuery(inviteCodeQuery)
  const link = `${window.location.origin}/register?aff=${code.data ?? '…'}`
  const copy = async () => {
    if (await copyText(link)) showSuccess(t('me.inviteCopied'))
  }
  if (code.error !== null && code.data === undefined) {
    return <ErrorState error={code.error} onRetry={() => void code.refetch()} />
  }
  return (
    <div className="tg-me-invite">
      <dl>
        <LabelledValue name={t('me.inviteCode')}>
          <code>{code.data}</code>
          {code.data !== undefined && (
            <CopyButton text={code.data} label={t('me.copyInviteCode')} />
          )}
        </LabelledValue>
        <LabelledValue name={t('me.inviteLink')}>
          <code>{link}</code>
        </LabelledValue>
      </dl>
      <Button icon="copy" isDisabled={code.data === undefined} onClick={() => void copy()}>
        {t('me.copyInvite')}
      </Button>
    </div>
  )
}

/** Reads the user's invitation code. The code is read only once, because it never changes. */
const inviteCodeQuery = {
  ...apiQuery('GET /api/user/aff'),
  staleTime: Number.POSITIVE_INFINITY,
}
