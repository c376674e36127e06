import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { useLocale } from '#console/i18n/use-locale.ts'
import { moneyText } from '#console/ui/currency-text.ts'
import { isNegative, isZero, parseDecimal, subtract } from '#console/ui/exact-decimal.ts'
import { FormDialog } from '#console/ui/form-dialog.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'
import type { Order } from '#read-api/contract/top-ups.ts'

/** How much goes back, and why: recorded here, carried out at the provider. */
export function RefundDialog(props: { order: Order; onClose: () => void }): ReactElement {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { order, onClose } = props
  const [money, setMoney] = useState(order.refundable)
  const [reason, setReason] = useState('')
  const [fault, setFault] = useState('')
  const { isBusy, submit } = useSubmit(async () => {
    if (reason.trim() === '') return setFault(t('orders.reasonRequired'))
    await refundOrder(order, money.trim(), reason.trim())
    showSuccess(t('orders.refunded'))
    onClose()
    await client.invalidateQueries({ queryKey: ['orders'] })
  })
  return (
    <FormDialog
      isOpen
      title={t('orders.refundTitle', { id: order.id })}
      lead={t('orders.refundLead', { name: order.username || `#${order.user_id}` })}
      submitText={t('orders.refund')}
      tone="danger"
      isBusy={isBusy}
      isDisabled={sumFault(money, order) !== null}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <SumField order={order} value={money} onChange={setMoney} />
      <FormField label={t('orders.reason')} error={fault} isRequired>
        {(control) => (
          <TextInput
            {...control}
            maxLength={500}
            value={reason}
            onChange={(text) => {
              setReason(text)
              setFault('')
            }}
          />
        )}
      </FormField>
    </FormDialog>
  )
}

function SumField(props: {
  order: Order
  value: string
  onChange: (money: string) => void
}): ReactElement {
  const { t } = useTranslation()
  const locale = useLocale()
  const { order, value, onChange } = props
  const most = moneyText(order.refundable, order.currency, locale)
  const wrong = sumFault(value, order)
  return (
    <FormField
      label={t('orders.refundMoney', { currency: order.currency })}
      hint={t('orders.refundMost', { most })}
      error={wrong === null ? '' : t(`orders.${wrong}`, { most })}
      isRequired
    >
      {(control) => (
        <TextInput
          {...control}
          isMono
          inputMode="decimal"
          autoComplete="off"
          maxLength={20}
          value={value}
          onChange={onChange}
        />
      )}
    </FormField>
  )
}

/** What is wrong with a sum to give back; null: nothing. */
function sumFault(text: string, { refundable }: Order): 'refundWrong' | 'refundTooMuch' | null {
  const sum = /^\d+(\.\d{1,2})?$/.test(text.trim()) ? parseDecimal(text) : null
  if (sum === null || isZero(sum)) return 'refundWrong'
  const most = parseDecimal(refundable)
  return most !== null && isNegative(subtract(most, sum)) ? 'refundTooMuch' : null
}

/** Records that an order, or a part of it, was refunded; once for the order as it is seen. */
const refundOrder = ({ id, refunds }: Order, money: string, reason: string) =>
  call('POST /api/user/topup/:id/refund', {
    params: { id },
    body: { money, reason, refunds: refunds.length },
  })
