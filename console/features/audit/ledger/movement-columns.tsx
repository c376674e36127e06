import type { TFunction } from 'i18next'
import { type Column, column, HIDDEN_COLUMN } from '#console/ui/data-grid/column.ts'
import { StatusTag, type Tone } from '#console/ui/elements/status-tag.tsx'
import type { LedgerItem } from '#read-api/contract/ledger.ts'
import type { MovementType } from '#read-api/contract/ledger-movement-types.ts'
import { QuotaChange } from '../elements/amounts.tsx'
import { numberColumn, quotaColumn, timeColumn } from '../elements/columns.tsx'
import type { Account } from './ledger-queries.ts'
import { detailsOf } from './movement-reason.ts'
import { MovementSource } from './movement-source.tsx'

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
  isAudit: boolean,
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
  column('details', t('audit.ledger.details'), 160, (item) => detailsOf(t, item), {
    isGrowing: true,
  }),
  numberColumn('amount', t('audit.ledger.amount'), 120, ({ amount }) => (
    <QuotaChange value={amount} />
  )),
  quotaColumn('total', t('audit.ledger.running'), 130, ({ total }) => total),
  quotaColumn('held', t('audit.ledger.held'), 110, ({ held }) => held, HIDDEN_COLUMN),
  column('revision', t('audit.revision'), 110, ({ revision }) => `#${revision}`, HIDDEN_COLUMN),
  ...(isAudit
    ? [
        column<LedgerItem>('actor', t('audit.actor'), 76, ({ actor_id: id }) => actorCell(t, id)),
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

const TypeTag = ({ t, type }: { t: TFunction; type: MovementType }) => (
  <StatusTag tone={TONES[type]} isPlain>
    {t(`audit.movement.${type}`)}
  </StatusTag>
)

const actorCell = (t: TFunction, id: number) => (id === 0 ? t('audit.site') : `#${id}`)
