import type { ReactElement, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { Icon } from '#console/ui/icons.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/money.ts'
import { useMoneyRule } from '#console/ui/quota.tsx'
import { Skeleton } from '#console/ui/skeleton.tsx'
import type { User } from '#read-api/contract/user.ts'

/** The balance first; what was used and how often, beside it. */
export function BalanceCard({ user }: { user: User | undefined }): ReactElement {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const number = useNumberFormat()
  const wait = <Skeleton width={90} height={22} />
  const quota = (wire: number | undefined): ReactNode =>
    wire === undefined ? wait : exactQuotaText(quotaOf(wire), rule)
  return (
    <section className="tg-wallet-card" aria-label={t('wallet.balance')}>
      <dl className="tg-wallet-figures">
        <div className="tg-wallet-balance">
          <dt>{t('wallet.balance')}</dt>
          <dd>{quota(user?.quota)}</dd>
        </div>
        <div>
          <dt>{t('wallet.used')}</dt>
          <dd>{quota(user?.used_quota)}</dd>
        </div>
        <div>
          <dt>{t('wallet.calls')}</dt>
          <dd>{user === undefined ? wait : number.format(user.request_count)}</dd>
        </div>
      </dl>
      {user !== undefined && user.quota < 0 && (
        <p className="tg-wallet-arrears">
          <Icon name="alert" size={14} /> {t('wallet.arrears')}
        </p>
      )}
    </section>
  )
}
