import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/money.ts'
import { useMoneyRule } from '#console/ui/quota.tsx'
import type { User } from '#read-api/contract/user.ts'
import { useBalances } from '../quota/use-balances.ts'

/** The balance as it is now. It is not edited: an amount is added to it, or deducted. */
export function BalancePart(props: {
  user: User
  onAdjust: (users: readonly User[]) => void
}): ReactElement {
  const { user } = props
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const balance = useBalances([user]).get(user.id) ?? quotaOf(user.quota)
  return (
    <section className="tg-user-part tg-user-balance">
      <div>
        <h3>{t('users.quota')}</h3>
        <p className="tg-amount">{exactQuotaText(balance, rule)}</p>
        {rule.isCurrency && (
          <p className="tg-hint">{t('users.balanceUnits', { quota: balance.toLocaleString() })}</p>
        )}
      </div>
      <Button icon="wallet" onClick={() => props.onAdjust([user])}>
        {t('users.adjustOpen')}
      </Button>
    </section>
  )
}
