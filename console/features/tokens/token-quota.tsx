import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { exactQuotaText, quotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { Token } from '#read-api/contract/tokens.ts'
import { usedPercent } from './token-status.ts'

/** The remaining and the used quota with a bar. An unlimited token has only the used quota. */
export function TokenQuota({ token }: { token: Token }): ReactElement {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const used = BigInt(token.used_quota)
  const exact = (words: 'remaining' | 'used', value: bigint) =>
    t(`tokens.${words}`, { amount: exactQuotaText(value, rule) })
  const usedText = t('tokens.used', { amount: quotaText(used, rule) })
  if (token.unlimited_quota) {
    return (
      <span className="tg-token-quota" title={exactQuotaText(used, rule)}>
        <span className="tg-token-quota-words">
          <span>{t('tokens.unlimited')}</span>
          <span className="tg-amount">{usedText}</span>
        </span>
      </span>
    )
  }
  const remain = BigInt(token.remain_quota)
  const percent = usedPercent(token)
  return (
    <span
      className="tg-token-quota"
      title={`${exact('remaining', remain)}\n${exact('used', used)}`}
    >
      <span className="tg-token-quota-words">
        <span className="tg-amount">
          {t('tokens.remaining', { amount: quotaText(remain, rule) })}
        </span>
        <span className="tg-amount">{usedText}</span>
      </span>
      <progress
        className={percent >= 90 ? 'tg-token-bar tg-token-bar-low' : 'tg-token-bar'}
        aria-label={t('tokens.usedShare', { name: token.name, percent })}
        max={100}
        value={percent}
      />
    </span>
  )
}
