import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { useLocale } from '#console/i18n/use-locale.ts'
import { exactQuotaText } from '#console/ui/money.ts'
import { useMoneyRule } from '#console/ui/quota.tsx'
import { type ChatMessage, isUnderWay } from './conversation.ts'

/** The call's own row of the log, whenever it was. */
const logOf = (call = ''): string => `/app/logs/api-usage?range=all&request=${call}`

/** What the answer cost, to the unit, what was counted, and how long it took. */
export function AnswerFacts({ message }: { message: ChatMessage }): ReactElement | null {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const number = new Intl.NumberFormat(useLocale())
  const { cost, firstMs, totalMs } = message
  if (isUnderWay(message)) return null
  return (
    <p className="tg-answer-facts">
      {cost === undefined ? (
        <Unknown message={message} />
      ) : (
        <>
          <Link to={logOf(message.call)} className="tg-answer-cost" title={t('playground.toLog')}>
            {exactQuotaText(BigInt(cost.quota), rule)}
          </Link>
          <span>
            {t('playground.tokens', {
              input: number.format(cost.promptTokens),
              output: number.format(cost.completionTokens),
            })}
          </span>
        </>
      )}
      {firstMs !== undefined && (
        <span>{t('playground.firstAfter', { seconds: seconds(firstMs) })}</span>
      )}
      {totalMs !== undefined && (
        <span>{t('playground.tookAll', { seconds: seconds(totalMs) })}</span>
      )}
    </p>
  )
}

/** A call that failed may never have begun: then the log knows nothing of it. */
function Unknown({ message }: { message: ChatMessage }): ReactElement | null {
  const { t } = useTranslation()
  if (message.call === undefined || message.status === 'error') return null
  if (message.isCostLate !== true) return <span>{t('playground.costComing')}</span>
  return <Link to={logOf(message.call)}>{t('playground.toLog')}</Link>
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(ms < 9_950 ? 1 : 0)
