import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useLocation } from 'react-router-dom'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { absoluteTimeText } from '#console/ui/elements/time-text.ts'
import type { Channel, TagGroup } from '#read-api/contract/channels.ts'
import { UnpricedModelsTag } from '../unpriced-models-tag.tsx'

export function ChannelName(props: {
  channel: Channel
  isChild: boolean
  unpriced: number
  onUnpriced: () => void
}) {
  const { channel, isChild, unpriced } = props
  const { t } = useTranslation()
  const { search } = useLocation()
  const aside = channel.keys_set_aside.length
  const keys =
    aside === 0
      ? t('channels.keyCount', { count: channel.key_count })
      : t('channels.keyCountSetAside', { count: channel.key_count, aside })
  const name = (
    <span className={isChild ? 'tg-name-cell tg-channel-child' : 'tg-name-cell'}>
      <Link
        className="tg-cell-strong tg-channel-link"
        to={{ pathname: `/channel/edit/${channel.id}`, search }}
        preventScrollReset
        tabIndex={-1}
        title={channel.name}
      >
        {channel.name}
      </Link>
      {channel.multi_key_mode !== '' && (
        <span className={`tg-key-count ${aside > 0 ? 'tg-key-count-aside' : ''}`} title={keys}>
          <Icon name="key" size={12} />
          <span aria-hidden="true">{channel.key_count}</span>
          <span className="tg-visually-hidden">{keys}</span>
        </span>
      )}
    </span>
  )
  if (unpriced === 0) return name
  return (
    <span className="tg-name-lines">
      {name}
      <UnpricedModelsTag count={unpriced} isInRow onOpen={props.onUnpriced} />
    </span>
  )
}

export function TagName(props: {
  group: TagGroup
  isOpen: boolean
  isLoading: boolean
  onToggle: () => void
}) {
  const { group, isOpen, isLoading } = props
  const { t } = useTranslation()
  const count = t('channels.childCount', { count: group.members.length })
  return (
    <span className="tg-name-cell tg-tag-name" title={group.tag}>
      <button
        type="button"
        className="tg-grid-expander"
        tabIndex={-1}
        aria-expanded={isOpen}
        aria-busy={isLoading}
        aria-label={t(isOpen ? 'channels.hideChildren' : 'channels.showChildren', {
          tag: group.tag,
        })}
        onClick={props.onToggle}
      >
        <Icon name="chevronRight" size={14} />
      </button>
      <Icon name="tag" size={14} />
      <span className="tg-cell-strong">{group.tag}</span>
      <span className="tg-tag-count" title={count}>
        <span aria-hidden="true">{group.members.length}</span>
        <span className="tg-visually-hidden">{count}</span>
      </span>
    </span>
  )
}

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
