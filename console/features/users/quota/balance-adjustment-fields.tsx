import { useTranslation } from 'react-i18next'
import { TableHead } from '#console/ui/elements/table-head.tsx'
import { AmountField } from '#console/ui/forms/amount-field.tsx'
import { Segmented } from '#console/ui/forms/choice-inputs.tsx'
import { AlignedColumn, AmountText, useAmountAlignments } from '#console/ui/quota/amount-text.tsx'
import { exactQuotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import { ReasonField } from '../form/user-form.tsx'
import { displayNameOf } from '../user-state-and-permitted-actions.ts'
import { type Adjustment, balanceAfter, exceedsBalance } from './use-balance-adjustment.ts'

const DOLLARS = [1n, 5n, 10n, 50n, 100n] as const

export function BalanceAdjustmentFields({ form, unit }: Pick<Adjustment, 'form' | 'unit'>) {
  const { t } = useTranslation()
  return (
    <>
      <div className="tg-field">
        <Segmented
          label={t('users.adjustKind')}
          choices={[
            { value: 'add', label: t('users.adjustAdd') },
            { value: 'deduct', label: t('users.adjustDeduct') },
          ]}
          {...form.field('action')}
        />
      </div>
      <AmountField
        label={t(unit.isCurrency ? 'users.amountInDollars' : 'users.amountInUnits')}
        unit={unit}
        wrongText={t('users.error.amountInvalid')}
        presetsLabel={t('users.quickAmounts')}
        dollars={DOLLARS}
        worth={{
          inMoney: (money) => t('users.adjustMoney', { money }),
          inUnits: (quota) => t('users.adjustUnits', { quota }),
        }}
        moneyText={exactQuotaText}
        isRequired
        {...form.field('amount')}
      />
      <ReasonField
        hint={t('users.reasonHint')}
        placeholder={t('users.reasonPlaceholder')}
        {...form.field('reason')}
      />
    </>
  )
}

export function AdjustmentPreviewTable({ adjustment }: { adjustment: Adjustment }) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const alignmentOf = useAmountAlignments()
  const { draft } = adjustment.form
  const errors = new Map(adjustment.failed.map((item) => [item.id, item.message]))
  return (
    <div className="tg-balances">
      <table>
        <TableHead
          titles={[
            ...(adjustment.isMany ? [t('auth.name')] : []),
            t('users.balanceNow'),
            t('users.balanceAfter'),
          ]}
        />
        <tbody>
          {adjustment.users.map((user) => {
            const now = adjustment.balances.get(user.id) ?? 0n
            const isBalanceTooLow = exceedsBalance(now, draft, adjustment.amount)
            const error = errors.get(user.id)
            return (
              <tr key={user.id}>
                {adjustment.isMany && (
                  <th scope="row">
                    {displayNameOf(user)}
                    {error !== undefined && (
                      <span className="tg-balances-error" role="alert">
                        {error}
                      </span>
                    )}
                  </th>
                )}
                <td>
                  <AlignedColumn alignment={alignmentOf('now')}>
                    <AmountText text={exactQuotaText(now, rule)} />
                  </AlignedColumn>
                </td>
                <td>
                  {adjustment.amount === null ? (
                    <span className="tg-quiet">–</span>
                  ) : isBalanceTooLow ? (
                    <span className="tg-balances-short">{t('users.balanceShort')}</span>
                  ) : (
                    <AlignedColumn alignment={alignmentOf('after')}>
                      <AmountText
                        text={exactQuotaText(balanceAfter(now, draft, adjustment.amount), rule)}
                      />
                    </AlignedColumn>
                  )}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
