import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocale } from '#console/i18n/use-locale.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { absoluteTimeText } from '#console/ui/elements/time-text.ts'
import type { Channel } from '#read-api/contract/channels.ts'

export function Balance(props: {
  channel: Channel
  isReported: boolean
  onRefresh: () => Promise<void>
}) {
  const { channel } = props
  const { t } = useTranslation()
  const locale = useLocale()
  const [isBusy, setBusy] = useState(false)
  const isRead = channel.balance_updated_time > 0
  if (!props.isReported && !isRead) return <span className="tg-quiet">–</span>
  const refresh = async () => {
    if (isBusy) return
    setBusy(true)
    await props.onRefresh()
    setBusy(false)
  }
  const readAt = absoluteTimeText(channel.balance_updated_time, locale)
  return (
    <span className="tg-name-cell tg-balance">
      <span
        className="tg-amount"
        title={isRead ? t('channels.balanceAt', { time: readAt }) : undefined}
      >
        {isRead ? balanceText(channel.balance, locale) : t('channels.balanceNeverRead')}
      </span>
      {props.isReported && (
        <Button
          tone="quiet"
          size="small"
          icon="refresh"
          isBusy={isBusy}
          label={t('channels.refreshBalance', { name: channel.name })}
          onClick={() => void refresh()}
        />
      )}
    </span>
  )
}

const balanceText = (balance: number, locale: string): string =>
  new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
  }).format(balance)
