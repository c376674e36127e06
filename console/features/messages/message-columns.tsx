import type { TFunction } from 'i18next'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import type { Column } from '#console/ui/data-grid/column.ts'
import { type MenuEntry, RowMenu } from '#console/ui/elements/menu.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import type { AdminMessage } from '#read-api/contract/messages.ts'

export type MessageActions = {
  readonly onEdit: (message: AdminMessage) => void
  readonly onDelete: (message: AdminMessage) => Promise<void>
}

export function messageColumns(
  t: TFunction,
  locale: string,
  actions: MessageActions,
): Column<AdminMessage>[] {
  const count = new Intl.NumberFormat(locale)
  return [
    { id: 'id', title: t('words.id'), width: 64, onCard: 'bare', cell: ({ id }) => `#${id}` },
    {
      id: 'title',
      title: t('messages.messageTitle'),
      width: 240,
      isGrowing: true,
      isPinned: true,
      onCard: 'title',
      cell: ({ title }) => <span className="tg-cell-strong">{title}</span>,
    },
    {
      id: 'format',
      title: t('messages.format'),
      width: 110,
      onCard: 'bare',
      cell: ({ format }) => <FormatTag format={format} />,
    },
    {
      id: 'recipients',
      title: t('messages.recipients'),
      width: 104,
      align: 'end',
      onCard: 'brief',
      cell: ({ stats }) => count.format(stats.total_recipients),
    },
    {
      id: 'readers',
      title: t('messages.readers'),
      width: 92,
      align: 'end',
      onCard: 'brief',
      cell: ({ stats }) => count.format(stats.read_count),
    },
    {
      id: 'created',
      title: t('words.created'),
      width: 172,
      cell: ({ created_at }) => <Time at={created_at} style="stamp" />,
    },
    {
      id: 'actions',
      title: t('words.actions'),
      width: 76,
      isPinned: true,
      align: 'end',
      onCard: 'aside',
      cell: (message) => <Acts message={message} actions={actions} />,
    },
  ]
}

function FormatTag({ format }: Pick<AdminMessage, 'format'>): ReactElement {
  const { t } = useTranslation()
  return (
    <StatusTag tone={format === 'html' ? 'warn' : 'info'} isPlain>
      {t(`messages.formats.${format}`)}
    </StatusTag>
  )
}

function Acts({
  message,
  actions,
}: {
  message: AdminMessage
  actions: MessageActions
}): ReactElement {
  const { t } = useTranslation()
  const items: MenuEntry[] = [
    {
      id: 'edit',
      text: t('ui.editRow'),
      icon: 'edit',
      onChoose: () => actions.onEdit(message),
    },
    'divider',
    {
      id: 'delete',
      text: t('words.delete'),
      icon: 'trash',
      tone: 'danger',
      onChoose: () => void actions.onDelete(message),
    },
  ]
  return <RowMenu items={items} label={t('messages.more', { title: message.title })} />
}
