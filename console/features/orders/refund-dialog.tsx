import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { isNegative, isZero, parseDecimal, subtract } from '#console/ui/quota/exact-decimal.ts'
import { moneyText } from '#console/ui/quota/money.ts'
import type { Order } from '#read-api/contract/top-ups.ts'

/**
 * Records a refund on this site and deducts the quota. Recording a refund moves no money: the admin
 * must also refund the payment at the payment provider.
 */
export function RefundDialog(props: { order: Order; onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { order, onClose } = props
  const locale = useLocale()
  const max = moneyText(order.refundable, order.currency, locale)
  const form = useDraftForm({
    initial: () => ({ money: order.refundable, reason: '' }),
    save: async ({ money, reason }) => {
      if (reason.trim() === '') throw new FieldError({ reason: t('orders.reasonRequired') })
      await refundOrder(order, money.trim(), reason.trim())
      showSuccess(t('orders.refunded'))
      onClose()
      await client.invalidateQueries({ queryKey: ['orders'] })
    },
  })
  const sumError = validateSum(form.draft.money, order)
  return (
    <FormDialog
      isOpen
      title={t('orders.refundTitle', { id: order.id })}
      lead={t('orders.refundLead', { name: order.username || `#${order.user_id}` })}
      submitText={t('orders.refund')}
      tone="danger"
      form={form}
      isDisabled={sumError !== null}
      onClose={onClose}
    >
      <TextField
        label={t('orders.refundMoney', { currency: order.currency })}
        hint={t('orders.refundMaximum', { max })}
        isRequired
        isMono
        inputMode="decimal"
        autoComplete="off"
        maxLength={20}
        {...form.field('money')}
        error={sumError === null ? undefined : t(`orders.${sumError}`, { max })}
      />
      <TextField label={t('orders.reason')} isRequired maxLength={500} {...form.field('reason')} />
    </FormDialog>
  )
}

function validateSum(
  text: string,
  { refundable }: Order,
): 'refundInvalid' | 'refundTooMuch' | null {
  const sum = /^\d+(\.\d{1,2})?$/.test(text.trim()) ? parseDecimal(text) : null
  if (sum === null || isZero(sum)) return 'refundInvalid'
  const max = parseDecimal(refundable)
  return max !== null && isNegative(subtract(max, sum)) ? 'refundTooMuch' : null
}

/**
 * Records the refund on the server. The request contains the number of refunds that the order had
 * when the dialog was opened. The server refuses the request if another refund has been recorded
 * since then.
 */
const refundOrder = ({ id, refunds }: Order, money: string, reason: string) =>
  call('POST /api/user/topup/:id/refund', {
    params: { id },
    body: { money, reason, refunds: refunds.length },
  })
