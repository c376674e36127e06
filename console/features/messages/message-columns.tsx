import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import {
  actionsColumn,
  type Column,
  column,
  NUMBER_COLUMN,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { useHistoryActions } from '#console/ui/elements/history-link.tsx'
import { type MenuItem, RowMenu } from '#console/ui/elements/menu.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { stamp } from '#console/ui/elements/time.tsx'
import { deleteAction, editAction } from '#console/ui/lists/list-actions.ts'
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
  const number = new Intl.NumberFormat(locale)
  const count = (name: keyof AdminMessage['stats']) => (message: AdminMessage) =>
    number.format(message.stats[name])
  return [
    column('id', t('shared.id'), 64, ({ id }) => `#${id}`, { onCard: 'bare' }),
    column('title', t('messages.messageTitle'), 240, titleCell, TITLE_COLUMN),
    column('format', t('messages.format'), 110, ({ format }) => <FormatTag format={format} />, {
      onCard: 'bare',
    }),
    column('recipients', t('messages.recipients'), 104, count('total_recipients'), NUMBER_COLUMN),
    column('readers', t('messages.readers'), 92, count('read_count'), NUMBER_COLUMN),
    column('created', t('shared.created'), 172, ({ created_at }) => stamp(created_at)),
    {
      ...actionsColumn(t, 76, (message) => (
        <MessageRowActions message={message} actions={actions} />
      )),
      onCard: 'aside',
    },
  ]
}

const titleCell = ({ title }: AdminMessage) => <span className="tg-cell-strong">{title}</span>

function FormatTag({ format }: Pick<AdminMessage, 'format'>) {
  const { t } = useTranslation()
  return (
    <StatusTag tone={format === 'html' ? 'warn' : 'info'} isPlain>
      {t(`messages.formats.${format}`)}
    </StatusTag>
  )
}

function MessageRowActions(props: { message: AdminMessage; actions: MessageActions }) {
  const { message, actions } = props
  const { t } = useTranslation()
  const history = useHistoryActions(`message:${message.id}`)
  const items: MenuItem[] = [
    editAction(() => actions.onEdit(message)),
    ...history,
    'divider',
    deleteAction(() => void actions.onDelete(message)),
  ]
  return <RowMenu items={items} label={t('messages.more', { title: message.title })} />
}
