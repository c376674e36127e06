import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Checkbox } from '#console/ui/forms/choice-inputs.tsx'
import type { ExportColumn } from '#read-api/contract/log-export-columns.ts'
import './export-drawer.css'

const TITLES = {
  id: 'logExport.column.id',
  time: 'shared.time',
  unix_time: 'logExport.column.unix_time',
  type: 'usageLog.typeFilter',
  channel: 'shared.channelId',
  channel_name: 'shared.channel',
  user_id: 'shared.userId',
  username: 'shared.user',
  token: 'shared.token',
  group: 'ui.groupName',
  model: 'ui.model',
  stream: 'usageLog.stream',
  duration_ms: 'shared.duration',
  first_token_ms: 'shared.firstToken',
  prompt_tokens: 'usageLog.column.prompt',
  completion_tokens: 'usageLog.column.completion',
  quota: 'shared.quota',
  cost_usd: 'usageLog.column.cost',
  amount_usd: 'usageLog.amount',
  provider_cost_usd: 'logExport.column.provider_cost_usd',
  end: 'shared.end',
  error: 'logExport.column.error',
  request_id: 'shared.requestId',
  content: 'usageLog.column.details',
} as const satisfies Record<ExportColumn, string>

type Props = {
  isOpen: boolean
  all: readonly ExportColumn[]
  selected: readonly ExportColumn[]
  onExport: (columns: readonly ExportColumn[]) => void
  onClose: () => void
}

export function ExportDrawer(props: Props) {
  const { t } = useTranslation()
  const { all } = props
  const [draft, setDraft] = useState(props.selected)
  const [wasOpen, setWasOpen] = useState(props.isOpen)
  if (wasOpen !== props.isOpen) {
    setWasOpen(props.isOpen)
    if (props.isOpen) setDraft(props.selected)
  }
  return (
    <Drawer
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={t('logExport.title')}
      lead={t('logExport.lead')}
      footer={
        <>
          <Button onClick={props.onClose}>{t('ui.cancel')}</Button>
          <Button
            tone="primary"
            isDisabled={draft.length === 0}
            onClick={() => {
              props.onClose()
              props.onExport(draft)
            }}
          >
            {t('usageLog.exportAs.csv')}
          </Button>
        </>
      }
    >
      <div className="tg-export-head">
        <p role="status">
          {draft.length === 0
            ? t('logExport.none')
            : t('logExport.selectedCount', { selected: draft.length, all: all.length })}
        </p>
        <Button size="small" tone="quiet" onClick={() => setDraft(all)}>
          {t('logExport.selectAll')}
        </Button>
        <Button size="small" tone="quiet" onClick={() => setDraft([])}>
          {t('logExport.selectNone')}
        </Button>
      </div>
      <Choices all={all} draft={draft} onChange={setDraft} />
    </Drawer>
  )
}

function Choices(props: {
  all: readonly ExportColumn[]
  draft: readonly ExportColumn[]
  onChange: (draft: readonly ExportColumn[]) => void
}) {
  const { t } = useTranslation()
  const { all, draft, onChange } = props
  const toggleColumn = (name: ExportColumn): void =>
    onChange(all.filter((one) => draft.includes(one) !== (one === name)))
  return (
    <ul className="tg-export-columns" aria-label={t('logExport.title')}>
      {all.map((name) => (
        <li key={name}>
          <Checkbox
            label={t(TITLES[name])}
            isOn={draft.includes(name)}
            onChange={() => toggleColumn(name)}
          />
          <code>{name}</code>
        </li>
      ))}
    </ul>
  )
}
