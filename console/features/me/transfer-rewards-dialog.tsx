import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { selfQuery } from '#console/api/account-queries.ts'
import { call } from '#console/api/client.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { exactQuotaText, type MoneyRule, quotaFromDollars } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'

/**
 * Moves rewards for invitations to the balance. A setting of the site decides whether the amount is
 * entered in dollars or in quota units.
 */
export function TransferRewardsDialog(props: {
  isOpen: boolean
  earned: bigint
  onClose: () => void
}) {
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
export function minimumTransfer({ quotaPerUnit }: MoneyRule): bigint {
  const [integer = '0', fraction = ''] = quotaPerUnit.split('.')
  return BigInt(integer) + (/[1-9]/.test(fraction) ? 1n : 0n)
}
