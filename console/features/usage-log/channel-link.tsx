import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { Icon } from '#console/ui/elements/icons.tsx'
import type { LogEntry } from '#read-api/contract/logs.ts'

export function ChannelLink(props: { id: number; name: string; tabIndex?: number }) {
  const { id, name } = props
  const { t } = useTranslation()
  if (name === '') return <span title={t('usageLog.channelDeleted')}>#{id}</span>
  return (
    <Link
      to={`/channel/edit/${id}`}
      tabIndex={props.tabIndex}
      title={t('usageLog.openChannel', { name, id })}
    >
      {name}
    </Link>
  )
}

export function ChannelCell(props: { row: LogEntry; onFilter: () => void }) {
  const { channel: id, channel_name: name } = props.row
  const { t } = useTranslation()
  if (id === 0) return <span className="tg-muted">–</span>
  const filterText = t('usageLog.filterByValue', { value: name || `#${id}` })
  return (
    <span className="tg-log-channel">
      <ChannelLink id={id} name={name} tabIndex={-1} />
      <button
        type="button"
        className="tg-cell-button"
        tabIndex={-1}
        title={filterText}
        aria-label={filterText}
        onClick={props.onFilter}
      >
        <Icon name="filter" size={14} />
      </button>
    </span>
  )
}
