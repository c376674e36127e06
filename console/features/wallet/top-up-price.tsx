import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { moneyText } from '#console/ui/currency-text.ts'
import { exactQuotaText, quotaFromDollars } from '#console/ui/money.ts'
import { useMoneyRule } from '#console/ui/quota.tsx'
import { Skeleton } from '#console/ui/skeleton.tsx'
import type { TopUp } from './use-top-up.ts'

/** What it comes to, as the server says; its refusal in place of it. */
export function TopUpPrice({ topUp }: { topUp: TopUp }): ReactElement {
  const { t, i18n } = useTranslation()
  const rule = useMoneyRule()
  const { price, refusal, amount, fault, isCurrent } = topUp
  const quota = quotaFromDollars(String(amount), rule)
  if (refusal !== null && fault === '') {
    return (
      <p className="tg-topup-fault" role="alert">
        {t('wallet.amountFault', { message: refusal.message })}
      </p>
    )
  }
  // What is wrong with the amount stands at its field: another amount's price would belie it.
  const hasAmount = fault === ''
  return (
    <dl className="tg-topup-price" aria-busy={hasAmount && !isCurrent}>
      <div>
        <dt>{t('wallet.toPay')}</dt>
        <dd>
          {!hasAmount ? (
            '–'
          ) : price.data === undefined ? (
            <Skeleton width={80} height={24} />
          ) : (
            moneyText(price.data.money, price.data.currency, i18n.language)
          )}
        </dd>
      </div>
      <div>
        <dt>{t('wallet.toGet')}</dt>
        <dd>{!hasAmount || quota === null ? '–' : exactQuotaText(quota, rule)}</dd>
      </div>
    </dl>
  )
}
