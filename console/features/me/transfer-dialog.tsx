import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { selfQuery } from '#console/api/account.ts'
import { call } from '#console/api/client.ts'
import { FormDialog } from '#console/ui/form-dialog.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { exactQuotaText, type MoneyRule, quotaFromDollars } from '#console/ui/money.ts'
import { useMoneyRule } from '#console/ui/quota.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'

/** How much of what invitations brought is to be spent: in dollars, or in units as shown. */
export function TransferDialog(props: {
  isOpen: boolean
  earned: bigint
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const client = useQueryClient()
  const rule = useMoneyRule()
  const [text, setText] = useState('')
  const [fault, setFault] = useState('')
  const close = () => {
    setText('')
    setFault('')
    props.onClose()
  }
  const { isBusy, submit } = useSubmit(async () => {
    const amount = amountOf(text, rule)
    const least = leastTransfer(rule)
    if (amount === null) return setFault(t('me.notAnAmount'))
    if (amount < least) {
      return setFault(t('me.transferTooSmall', { least: exactQuotaText(least, rule) }))
    }
    if (amount > props.earned) return setFault(t('me.transferTooMuch'))
    await call('POST /api/user/aff_transfer', { body: { quota: Number(amount) } })
    showSuccess(t('me.transferred'))
    close()
    await client.invalidateQueries({ queryKey: selfQuery.queryKey })
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={t('me.transferTitle')}
      lead={t('me.transferLead', { earned: exactQuotaText(props.earned, rule) })}
      submitText={t('me.transfer')}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={close}
    >
      <FormField
        label={rule.isCurrency ? t('me.amountDollars') : t('me.amountUnits')}
        error={fault}
        isRequired
      >
        {(control) => (
          <TextInput
            {...control}
            inputMode="decimal"
            autoComplete="off"
            value={text}
            onChange={(value) => {
              setText(value)
              setFault('')
            }}
          />
        )}
      </FormField>
    </FormDialog>
  )
}

function amountOf(text: string, rule: MoneyRule): bigint | null {
  if (rule.isCurrency) return quotaFromDollars(text.replace(/^\$/, ''), rule)
  return /^\d{1,16}$/.test(text.trim()) ? BigInt(text.trim()) : null
}

/** One dollar, in units: the server takes no less at once. */
export function leastTransfer({ quotaPerUnit }: MoneyRule): bigint {
  const [whole = '0', fraction = ''] = quotaPerUnit.split('.')
  return BigInt(whole) + (/[1-9]/.test(fraction) ? 1n : 0n)
}
