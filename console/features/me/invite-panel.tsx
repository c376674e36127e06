import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, call } from '#console/api/client.ts'
import { selfQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { useStatus } from '#console/api/status.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton, copyText } from '#console/ui/elements/copy-to-clipboard.tsx'
import { LabelledValue, LabelledValues } from '#console/ui/elements/labelled-value.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import {
  exactQuotaText,
  type MoneyRule,
  quotaFromDollars,
  quotaOf,
} from '#console/ui/quota/money.ts'
import { Quota, useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { MePanelProps } from './me-panel-types.ts'

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
  // Earned rewards stay visible after the site has disabled invitations.
  if (!isOffered && earned === 0n) return null
  return (
    <Panel title={t('me.invites')} lead={t('me.invitesLead')}>
      {isOffered && <InviteLink />}
      <div className="tg-me-invites">
        <LabelledValues
          className="tg-me-figures"
          valueClassName="tg-number"
          values={[
            [t('me.invited'), number.format(user?.aff_count ?? 0)],
            [
              t('me.totalRewards'),
              <Quota key="total" value={quotaOf(user?.aff_history_quota ?? 0)} />,
            ],
            [t('me.availableRewards'), <Quota key="available" value={earned} />],
          ]}
        />
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

/**
 * Moves rewards for invitations to the balance. A setting of the site determines whether the amount
 * is entered in dollars or in quota units.
 */
function TransferRewardsDialog(props: { isOpen: boolean; earned: bigint; onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const rule = useMoneyRule()
  const form = useDraftForm({
    initial: () => ({ amount: '' }),
    onClose: props.onClose,
    save: async (draft) => {
      const amount = amountOf(draft.amount, rule)
      const min = minimumTransfer(rule)
      if (amount === null) throw new FieldError({ amount: t('me.notAnAmount') })
      if (amount < min) {
        const text = t('me.transferTooSmall', { min: exactQuotaText(min, rule) })
        throw new FieldError({ amount: text })
      }
      if (amount > props.earned) throw new FieldError({ amount: t('me.transferTooMuch') })
      await call('POST /api/user/aff_transfer', { body: { quota: Number(amount) } })
      showSuccess(t('me.transferred'))
      form.close()
      await client.invalidateQueries({ queryKey: selfQuery.queryKey })
    },
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={t('me.transferTitle')}
      lead={t('me.transferLead', { earned: exactQuotaText(props.earned, rule) })}
      submitText={t('me.transfer')}
      form={form}
    >
      <TextField
        label={rule.isCurrency ? t('me.amountDollars') : t('me.amountUnits')}
        isRequired
        inputMode="decimal"
        autoComplete="off"
        {...form.field('amount')}
      />
    </FormDialog>
  )
}

function amountOf(text: string, rule: MoneyRule): bigint | null {
  if (rule.isCurrency) return quotaFromDollars(text.replace(/^\$/, ''), rule)
  return /^\d{1,16}$/.test(text.trim()) ? BigInt(text.trim()) : null
}

/** Returns the smallest amount that the server transfers: one dollar, in quota units. */
function minimumTransfer({ quotaPerUnit }: MoneyRule): bigint {
  const [integer = '0', fraction = ''] = quotaPerUnit.split('.')
  return BigInt(integer) + (/[1-9]/.test(fraction) ? 1n : 0n)
}
