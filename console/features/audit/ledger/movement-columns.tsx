import type { TFunction } from 'i18next'
import { type Column, column, HIDDEN_COLUMN } from '#console/ui/data-grid/column-and-layout.ts'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import type { LedgerItem } from '#read-api/contract/ledger.ts'
import type { MovementType } from '#read-api/contract/ledger-movement-types.ts'
import { QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { numberColumn, quotaColumn, timeColumn } from '../elements/columns.tsx'
import { userText } from '../elements/user-names.ts'
import type { Account } from './ledger-queries.ts'
import { asKnownType, detailsText, MovementSource, movementTypeText } from './movement-text.tsx'

const TONES: Readonly<Record<MovementType, Tone>> = {
  call: 'neutral',
  grant: 'good',
  deduction: 'warn',
  redemption: 'good',
  order: 'good',
  refund: 'warn',
  check_in: 'lime',
  transfer: 'info',
  rebate: 'lime',
  correction: 'info',
}

export const movementColumns = (
  t: TFunction,
  showsAuditColumns: boolean,
  account: Account,
): Column<LedgerItem>[] => [
  timeColumn('time', t('audit.time'), ({ created_at: at }) => at, {
    isPinned: true,
    onCard: 'title',
  }),
  column('type', t('audit.ledger.type'), 100, ({ type }) => <TypeTag t={t} type={type} />, {
    onCard: 'aside',
  }),
  column('source', t('audit.ledger.source'), 190, (item) => (
    <MovementSource item={item} account={account} />
  )),
  column('details', t('audit.ledger.details'), 160, (item) => detailsText(t, item) || '–', {
    isGrowing: true,
  }),
  numberColumn('amount', t('audit.ledger.amount'), 120, ({ amount }) => (
    <QuotaChange value={amount} />
  )),
  quotaColumn('total', t('audit.ledger.running'), 130, ({ total }) => total),
  quotaColumn('held', t('audit.ledger.held'), 110, ({ held }) => held, HIDDEN_COLUMN),
  column('revision', t('audit.revision'), 110, ({ revision }) => `#${revision}`, HIDDEN_COLUMN),
  ...(showsAuditColumns
    ? [
        column<LedgerItem>('actor', t('audit.actor'), 110, (item) => actorCell(t, item)),
        column<LedgerItem>(
          'channel',
          t('shared.channelId'),
          90,
          ({ channel_id: id }) => (id === 0 ? '–' : `#${id}`),
          HIDDEN_COLUMN,
        ),
      ]
    : []),
]

function TypeTag({ t, type }: { t: TFunction; type: string }) {
  const known = asKnownType(type)
  const tag = (
    <StatusTag tone={known === undefined ? 'neutral' : TONES[known]} isPlain>
      {known === undefined ? t('audit.ledger.otherType') : movementTypeText(t, known)}
    </StatusTag>
  )
  return known === undefined ? <span title={type}>{tag}</span> : tag
}

const actorCell = (t: TFunction, { actor_id: id, actor_name: name }: LedgerItem): string =>
  id === 0 ? t('audit.site') : userText(t, id, name)
